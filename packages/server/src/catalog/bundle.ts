import { isBuiltin } from "node:module";
import type { SourceIssue } from "@engine/contract";
import { type Message, type TransformFailure, transform } from "esbuild";
import type { Node, ParseResult } from "oxc-parser";
import { walk } from "oxc-walker";
import { literalKey } from "./binding.ts";
import { lineColumns } from "./line-column.ts";
import { shorten } from "./source-issues.ts";
import { sourceMapComment } from "./source-map.ts";
import { parseModule } from "./source-module.ts";
import { readSource, syntaxError } from "./source-reading.ts";

/** The name a source without a file has in records and issues (short form of EXE-59). */
export const SOURCE_FILE = "workflow.ts";

/** Takes the types out of one self-contained file. `bundle` is empty when there are issues. */
export async function transpile(
  source: string,
): Promise<{ bundle: string; issues: SourceIssue[] }> {
  const read = readSource(SOURCE_FILE, source);
  if (read.parsed === undefined) return { bundle: "", issues: read.issues };
  let bundle: string;
  try {
    const result = await transform(source, {
      loader: "ts",
      format: "esm",
      target: "node22",
      sourcefile: SOURCE_FILE,
      sourcemap: "external",
      sourcesContent: false,
      charset: "utf8",
      legalComments: "none",
      logLevel: "silent",
      // Without it a tsconfig would be assumed, and its defaults may change with esbuild.
      tsconfigRaw: { compilerOptions: { useDefineForClassFields: true } },
    });
    bundle = result.code + sourceMapComment(result.map);
  } catch (error) {
    const { errors } = error as Partial<TransformFailure>;
    if (!errors?.length) throw error;
    return { bundle: "", issues: errors.map((each) => refusal(each, source)) };
  }
  // Imports of types are gone from the bundle, so those that remain are what the worker will load.
  const loaded = new Set(imports(parseModule("workflow.js", bundle)).map(({ name }) => name));
  const issues = imports(read.parsed)
    .filter(({ name }) => loaded.has(name) && !isAllowed(name))
    .map(({ name, node }) => unresolvedImport(name, node, source));
  return { bundle: issues.length === 0 ? bundle : "", issues };
}

/** Every import of a file; the name is undefined when it is computed. */
function imports({ program }: ParseResult): { name: string | undefined; node: Node }[] {
  const found: { name: string | undefined; node: Node }[] = [];
  walk(program, {
    enter(node) {
      if (
        node.type === "ImportDeclaration" ||
        node.type === "ExportNamedDeclaration" ||
        node.type === "ExportAllDeclaration" ||
        node.type === "ImportExpression"
      ) {
        if (node.source) found.push({ name: literalKey(node.source), node: node.source });
      }
    },
  });
  return found;
}

function isAllowed(name: string | undefined): boolean {
  if (name === undefined) return false;
  if (name.startsWith("node:")) return isBuiltin(name);
  return name.startsWith("@engine/") || name === "zod" || name.startsWith("zod/");
}

function unresolvedImport(name: string | undefined, node: Node, source: string): SourceIssue {
  const what = name === undefined ? "a computed import" : `the import of ${name}`;
  return {
    workflow: null,
    path: "source",
    rule: "unresolved_import",
    message: `${what} cannot be resolved: a single source may import @engine/*, zod and node:*; register a file with its imports through the command line`,
    file: SOURCE_FILE,
    ...lineColumns(source)(node.start),
    expression: shorten(source.slice(node.start, node.end)),
  };
}

function refusal({ text, location }: Message, source: string): SourceIssue {
  if (location === null) return syntaxError(SOURCE_FILE, source, 0, text);
  const lines = source.split(/(?<=\r\n|\n|\r(?!\n))/);
  const start = lines.slice(0, location.line - 1).join("").length;
  // esbuild counts columns in bytes.
  const before = Buffer.from(location.lineText).subarray(0, location.column).toString();
  return syntaxError(SOURCE_FILE, source, start + before.length, text);
}
