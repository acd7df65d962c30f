import { isBuiltin } from "node:module";
import type { SourceIssue } from "@engine/contract";
import { type Message, type TransformFailure, transform } from "esbuild";
import type { Node, ParseResult } from "oxc-parser";
import { walk } from "oxc-walker";
import { literalKey } from "./modules/binding.ts";
import { lineColumns } from "./modules/line-column.ts";
import { fileIssue, SOURCE_FILE, shorten } from "./modules/source-issues.ts";
import { sourceMapComment } from "./modules/source-map.ts";
import { parseModule } from "./modules/source-module.ts";
import { readSource, type SourceRead, syntaxError } from "./modules/source-reading.ts";

/** Takes the types out of one self-contained file. `bundle` is empty when there are issues. */
export async function transpile(
  source: string,
  { parsed, issues: unread }: SourceRead = readSource(SOURCE_FILE, source),
): Promise<{ bundle: string; issues: SourceIssue[] }> {
  if (parsed === undefined) return { bundle: "", issues: unread };
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
    return { bundle: "", issues: refusals(errors, source) };
  }
  const outside = imports(parsed, source).filter(({ name }) => !isAllowed(name));
  if (outside.length === 0) return { bundle, issues: [] };
  // Imports of types are gone from the bundle, so those that remain are what the worker will load.
  const loaded = new Set(
    imports(parseModule("workflow.js", bundle), bundle).map(({ name }) => name),
  );
  const position = lineColumns(source);
  const issues = outside
    .filter(({ name }) => loaded.has(name))
    .map(({ name, node }) => {
      const what = name === undefined ? "a computed import" : `the import of ${name}`;
      return fileIssue({
        rule: "unresolved_import",
        message: `${what} cannot be resolved: a single source may import @engine/*, zod and node:*; register a file with its imports through the command line`,
        file: SOURCE_FILE,
        path: "source",
        ...position(node.start),
        expression: shorten(source.slice(node.start, node.end)),
      });
    });
  return { bundle: issues.length === 0 ? bundle : "", issues };
}

interface Import {
  /** Undefined when it is computed. */
  readonly name: string | undefined;
  readonly node: Node;
}

function imports({ program }: ParseResult, source: string): Import[] {
  const found: Import[] = [];
  const add = (node: Node) => found.push({ name: literalKey(node), node });
  for (const statement of program.body) {
    if ("source" in statement && statement.source) add(statement.source);
  }
  if (!MAY_IMPORT_LATER.test(source)) return found;
  walk(program, {
    enter(node) {
      if (node.type === "ImportExpression") add(node.source);
    },
  });
  return found.sort((a, b) => a.node.start - b.node.start);
}

/** A text without a match imports only by the statements at its top. */
const MAY_IMPORT_LATER = /\bimport\s*[(/.]/;

function isAllowed(name: string | undefined): boolean {
  if (name === undefined) return false;
  if (name.startsWith("node:")) return isBuiltin(name);
  return name.startsWith("@engine/") || name === "zod" || name.startsWith("zod/");
}

function refusals(errors: readonly Message[], source: string): SourceIssue[] {
  const starts = [0];
  for (const line of source.split(/(?<=\r\n|\n|\r(?!\n))/)) {
    starts.push((starts.at(-1) ?? 0) + line.length);
  }
  const position = lineColumns(source);
  return errors.map(({ text, location }) => {
    if (location === null) return syntaxError(SOURCE_FILE, source, 0, text, position);
    // esbuild counts columns in bytes.
    const before = Buffer.from(location.lineText).subarray(0, location.column).toString();
    const offset = (starts[location.line - 1] ?? 0) + before.length;
    return syntaxError(SOURCE_FILE, source, offset, text, position);
  });
}
