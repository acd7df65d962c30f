import { readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { SourceFile } from "@engine/contract";
import { type BuildFailure, build, type Location, type Message, type Metafile } from "esbuild";
import type { SourceProblem } from "../render/source-problem.ts";
import { placedMap } from "./source-map.ts";
import { sourceText } from "./source-text.ts";
import { spellings } from "./spellings.ts";
import { PLATFORM, TSCONFIG, typeImports } from "./type-imports.ts";

/** What registration sends (EXE-59), with the folder its paths start from. */
export interface WorkflowBundle {
  readonly entry: string;
  readonly files: SourceFile[];
  readonly bundle: string;
  readonly root: string;
}

export type Bundled = {
  /**
   * Absolute paths of what decides the outcome: of a bundle all its local files, of a failure those
   * it is known to concern, also paths where something is missing.
   */
  readonly inputs: readonly string[];
} & (
  | { readonly bundle: WorkflowBundle; readonly problems?: undefined }
  | { readonly bundle?: undefined; readonly problems: readonly SourceProblem[] }
);

/** Always left to the worker's own installation, also where a file requests them. */
const EXTERNAL = ["node:*", "@engine/*", "zod", "zod/*"];

/**
 * Bundles a workflow file with everything it imports. The same sources give the same bytes wherever
 * they lie, because equal content must not become a new version.
 *
 * @param external Names of packages, or all of them, that are left to the worker too.
 */
export async function bundleWorkflow(
  file: string,
  external: readonly string[] | "every package" = [],
): Promise<Bundled> {
  // esbuild names files by where they really lie, and so must the entry be named.
  const path = realPath(file);
  const folder = dirname(path);
  try {
    const { outputFiles, metafile } = await build({
      entryPoints: [path],
      absWorkingDir: folder,
      outfile: join(folder, "bundle.mjs"),
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      platform: PLATFORM,
      target: "node22",
      charset: "utf8",
      // A workflow or task may take its name from its function, which bundling would rename.
      keepNames: true,
      legalComments: "none",
      sourcemap: "external",
      sourcesContent: false,
      tsconfigRaw: TSCONFIG,
      ...(external === "every package"
        ? { packages: "external" }
        : { external: [...EXTERNAL, ...external] }),
      logLevel: "silent",
    });
    const map = outputFiles.find((file) => file.path.endsWith(".map"));
    const output = outputFiles.find((file) => file !== map);
    if (!map || !output) throw new Error(`bundling ${path} gave no output`);
    const bundled = localFiles(folder, metafile);
    const code = placed(path, folder, bundled, { map: map.text, code: output.text });
    const { files, missing } = await typeImports(bundled);
    const sent = [...bundled, ...files];
    return { bundle: withFiles(path, sent, code), inputs: [...sent, ...missing] };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    const problems = error.errors.map((message) => problemOf(message, folder));
    const missing = error.errors.flatMap((message) => missingFiles(message, folder));
    return { problems, inputs: [path, ...problems.map(({ file }) => file), ...missing] };
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // There is none: the bundler says so in its own words.
    return path;
  }
}

function localFiles(folder: string, { inputs }: Metafile): string[] {
  return (
    Object.keys(inputs)
      .map((input) => resolve(folder, input))
      .filter((input) => !input.includes(`${sep}node_modules${sep}`))
      // Inputs that esbuild makes itself, for a disabled module for example, are no files.
      .filter((input) => sourceText(input) !== undefined)
  );
}

/**
 * The bundle with its map. Sources are named from the folder that what was bundled has in common:
 * where a file of types lies must not change the bytes.
 */
function placed(
  path: string,
  folder: string,
  bundled: readonly string[],
  output: { map: string; code: string },
): string {
  const inRoot = pathsFrom(commonFolder([path, ...bundled]));
  const prefix = requirePrefix(output.code);
  const map = placedMap(output.map, {
    linesBefore: prefix.split("\n").length - 1,
    rename: (source) => packagePath(source) ?? inRoot(resolve(folder, source)),
  });
  return prefix + output.code + map;
}

function withFiles(path: string, paths: readonly string[], bundle: string): WorkflowBundle {
  const root = commonFolder([path, ...paths]);
  const inRoot = pathsFrom(root);
  const files = paths.map((file) => ({ path: inRoot(file), source: readFileSync(file, "utf8") }));
  return { entry: inRoot(path), files, bundle, root };
}

function pathsFrom(root: string): (file: string) => string {
  return (file) => relative(root, file).split(sep).join("/");
}

/** A file of a package by its place in the package, wherever that is installed. */
function packagePath(path: string): string | undefined {
  const at = path.lastIndexOf("node_modules/");
  return at < 0 ? undefined : path.slice(at);
}

/** A bundled CommonJS package may ask for a built-in module; a module has no `require` by itself. */
function requirePrefix(code: string): string {
  if (!code.includes("__require(")) return "";
  return `import { createRequire as __createRequire } from "node:module";\nvar require = __createRequire(import.meta.url);\n`;
}

function commonFolder(paths: readonly string[]): string {
  let folder = dirname(paths[0] ?? "");
  const outside = (path: string) => {
    const way = relative(folder, path);
    return way.startsWith("..") || isAbsolute(way);
  };
  while (paths.some(outside)) folder = dirname(folder);
  return folder;
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);
}

function problemOf({ text, location }: Message, folder: string): SourceProblem {
  const missing = unresolvedModule(text);
  return {
    file: location ? resolve(folder, location.file) : folder,
    line: location?.line ?? 1,
    column: location ? columnOf(location) : 1,
    rule: missing === undefined ? "syntax_error" : "unresolved_import",
    message: missing === undefined ? text : unresolved(missing),
  };
}

function unresolvedModule(text: string): string | undefined {
  return /^Could not resolve "(.+)"$/.exec(text)?.[1];
}

/** Where an import that led nowhere would have found its module. */
function missingFiles({ text, location }: Message, folder: string): string[] {
  const module = unresolvedModule(text);
  if (module === undefined || !location) return [];
  const importer = dirname(resolve(folder, location.file));
  if (isPath(module)) return spellings(resolve(importer, module));
  const [name] = /^(@[^/]+\/)?[^/]+/.exec(module) ?? [module];
  return foldersUpFrom(importer).map((above) => join(above, "node_modules", name, "package.json"));
}

function foldersUpFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUpFrom(above)];
}

function isPath(module: string): boolean {
  return /^\.{0,2}\//.test(module);
}

function unresolved(module: string): string {
  if (isPath(module)) return `${module} does not exist; correct the path`;
  return `package ${module} is not installed; install it with: npm install ${module}`;
}

/** From 1, in characters: esbuild counts bytes. */
export function columnOf({ column, lineText }: Pick<Location, "column" | "lineText">): number {
  return Buffer.from(lineText).subarray(0, column).toString().length + 1;
}
