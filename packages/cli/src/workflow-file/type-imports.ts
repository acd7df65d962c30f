import { dirname, extname, resolve, sep } from "node:path";
import { build, type Plugin, type TsconfigRaw } from "esbuild";
import { parseSync } from "oxc-parser";
import { sourceText } from "./source-text.ts";
import { spellings } from "./spellings.ts";

/** What decides where the bundler looks for a file. */
export const PLATFORM = "node";
/** A tsconfig nearby must not decide which bytes the same sources give. */
export const TSCONFIG: TsconfigRaw = { compilerOptions: { useDefineForClassFields: true } };

export interface TypeImports {
  readonly files: readonly string[];
  /** Where imports that led nowhere would have found their file. */
  readonly missing: readonly string[];
}

/**
 * The local files that bundled files import for their types alone, directly or through each other: a
 * bundler drops those imports, so it never lists the files they lead to. In a file that is only
 * reached for a type every import with names counts, because any may bring a part of the type.
 */
export async function typeImports(bundled: readonly string[]): Promise<TypeImports> {
  const seen = new Set(bundled);
  const missing = new Set<string>();
  await withResolver(async (resolveImport) => {
    // Files are added while they are walked.
    for (const file of seen) {
      for (const specifier of namedImports(file)) {
        const found = await resolveImport(specifier, file);
        if (found === undefined) {
          for (const path of spellings(resolve(dirname(file), specifier))) missing.add(path);
        } else if (isProgram(found) && !isInstalled(found)) {
          seen.add(found);
        }
      }
    }
  });
  for (const file of bundled) seen.delete(file);
  return { files: [...seen], missing: [...missing] };
}

type ResolveImport = (specifier: string, importer: string) => Promise<string | undefined>;

/** Asks the bundler itself, which answers only while it bundles something. */
async function withResolver(use: (resolveImport: ResolveImport) => Promise<void>): Promise<void> {
  const asking: Plugin = {
    name: "type-imports",
    setup(building) {
      building.onStart(() =>
        use(async (specifier, importer) => {
          const resolveDir = dirname(importer);
          const options = { kind: "import-statement", importer, resolveDir } as const;
          const { path, errors } = await building.resolve(specifier, options);
          return errors.length > 0 ? undefined : path;
        }),
      );
    },
  };
  await build({
    stdin: { contents: "" },
    write: false,
    platform: PLATFORM,
    tsconfigRaw: TSCONFIG,
    plugins: [asking],
    logLevel: "silent",
  });
}

/** Where names are imported or exported from by path; a package brings no file of the user's. */
function namedImports(file: string): string[] {
  const source = isProgram(file) ? sourceText(file) : undefined;
  if (source === undefined) return [];
  const { staticImports, staticExports } = parseSync(file, source, { sourceType: "module" }).module;
  const imported = staticImports
    .filter(({ entries }) => entries.length > 0)
    .map(({ moduleRequest }) => moduleRequest.value);
  const exported = staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
  );
  return [...new Set([...imported, ...exported])].filter((each) =>
    /^(?:\.{1,2})?(?:\/|$)/.test(each),
  );
}

function isProgram(path: string): boolean {
  return /^\.[cm]?[jt]sx?$/.test(extname(path));
}

function isInstalled(path: string): boolean {
  return path.includes(`${sep}node_modules${sep}`);
}
