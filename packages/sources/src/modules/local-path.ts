import { posix } from "node:path";

const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx"];
/** What a compiler would have made of a TypeScript file, so imports may name either. */
const WRITTEN_AS: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx"],
  ".jsx": [".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};

export function isLocalSpecifier(specifier: string): boolean {
  return /^\.{1,2}(?:\/|$)/.test(specifier) || specifier.startsWith("/");
}

/** Whether a file is program text; others, such as JSON, may be imported but are not read. */
export function isProgram(path: string): boolean {
  return EXTENSIONS.includes(posix.extname(path));
}

/** One spelling for a path, whichever way it was sent. */
export function normalPath(path: string): string {
  return posix.normalize(path.replaceAll("\\", "/"));
}

/** The paths a local import may mean, as bundlers look for them, likeliest first. */
export function candidatePaths(importer: string, specifier: string): string[] {
  const path = specifier.startsWith("/")
    ? posix.normalize(specifier)
    : posix.join(posix.dirname(importer), specifier);
  const extension = posix.extname(path);
  const stem = path.slice(0, path.length - extension.length);
  return [
    path,
    ...(WRITTEN_AS[extension] ?? []).map((other) => stem + other),
    ...EXTENSIONS.map((other) => path + other),
    ...EXTENSIONS.map((other) => posix.join(path, `index${other}`)),
  ];
}
