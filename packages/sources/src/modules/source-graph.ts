import type { SourceFile, SourceIssue } from "@engine/contract";
import type { ImportDeclaration, Node } from "oxc-parser";
import { literalKey } from "./binding.ts";
import { candidatePaths, isLocalSpecifier, isProgram, normalPath } from "./local-path.ts";
import { type ModuleExports, moduleExports } from "./module-exports.ts";
import { fileIssue, sourceIssue } from "./source-issues.ts";
import { indexModule, type Place, type SourceModule } from "./source-module.ts";
import type { ReadSource } from "./source-reading.ts";

/** Thrown when reading a file costs more than any honest one does, such as spreads that double. */
export class TooIntricate extends Error {}

/** The files of one registration, parsed, and how they import each other. */
export interface SourceGraph {
  /** The entry first, then the other files by path, so that equal content gives an equal record. */
  readonly modules: readonly SourceModule[];
  readonly entry: SourceModule;
  /** The place of each among them. */
  readonly order: ReadonlyMap<SourceModule, number>;
  /** Those that run with the entry. The others were sent for their types. */
  readonly running: ReadonlySet<SourceModule>;
  exportsOf(module: SourceModule): ModuleExports;
  /** Counts steps of following and evaluating; throws {@link TooIntricate} when they are too many. */
  spend(steps: number): void;
  /** The file a local import means; `unread` when it was sent but is not program text. */
  importedBy(module: SourceModule, specifier: string): SourceModule | "unread" | undefined;
}

export type GraphResult =
  | { graph: SourceGraph; issues: SourceIssue[] }
  | { graph: undefined; issues: SourceIssue[] };

export function sourceGraph(
  entry: string,
  files: readonly SourceFile[],
  readSource: ReadSource,
): GraphResult {
  const entryPath = normalPath(entry);
  const byPath = new Map<string, SourceModule>();
  const paths = new Set<string>();
  const issues: SourceIssue[] = [];
  for (const { path: sentAs, source } of files) {
    const path = normalPath(sentAs);
    if (paths.has(path)) {
      const message = `${path} was sent twice; send each file once`;
      issues.push(fileIssue({ rule: "unresolved_import", message, file: path }));
    }
    if (paths.has(path) || !(isProgram(path) || path === entryPath)) {
      paths.add(path);
      continue;
    }
    paths.add(path);
    const read = readSource(path, source);
    issues.push(...read.issues);
    if (read.parsed) byPath.set(path, indexModule(path, source, read.parsed));
  }
  if (!paths.has(entryPath)) {
    const message = `the entry ${entryPath} is not among the files: send it with them`;
    issues.push(fileIssue({ rule: "unresolved_import", message, file: entryPath }));
  }
  const entryModule = byPath.get(entryPath);
  // A file that was not understood makes every finding about its names doubtful.
  if (entryModule === undefined || issues.length > 0) return { graph: undefined, issues };

  const others = [...byPath.values()].filter((module) => module !== entryModule);
  others.sort((a, b) => (a.path < b.path ? -1 : 1));
  let left = 100_000 + 10 * files.reduce((length, { source }) => length + source.length, 0);
  const exported = new Map<SourceModule, ModuleExports>();
  const importedBy: SourceGraph["importedBy"] = (module, specifier) => {
    const path = candidatePaths(module.path, specifier).find((each) => paths.has(each));
    return path === undefined ? undefined : (byPath.get(path) ?? "unread");
  };
  const running = new Set([entryModule]);
  // Files are added while they are walked.
  for (const module of running) {
    for (const { specifier } of localImports(module)) {
      const next = sentModule({ importedBy }, module, specifier);
      if (next) running.add(next);
    }
  }
  const modules = [entryModule, ...others];
  const graph: SourceGraph = {
    entry: entryModule,
    modules,
    order: new Map(modules.map((module, index) => [module, index])),
    running,
    exportsOf(module) {
      const known = exported.get(module) ?? moduleExports(module);
      exported.set(module, known);
      return known;
    },
    spend(steps) {
      left -= steps;
      if (left < 0) throw new TooIntricate();
    },
    importedBy,
  };
  return { graph, issues: [...running].flatMap((module) => unresolvedImports(graph, module)) };
}

/** The program text that a specifier means; undefined for a package, and for what was not sent. */
export function sentModule(
  graph: Pick<SourceGraph, "importedBy">,
  module: SourceModule,
  specifier: string,
): SourceModule | undefined {
  const next = isLocalSpecifier(specifier) ? graph.importedBy(module, specifier) : undefined;
  return next === "unread" ? undefined : next;
}

function unresolvedImports(graph: SourceGraph, module: SourceModule): SourceIssue[] {
  return localImports(module)
    .filter(({ specifier }) => graph.importedBy(module, specifier) === undefined)
    .map(({ specifier, node }) => {
      const message = `${specifier} is imported but was not sent: send every local file with the entry`;
      const finding = { message, place: { module, node }, path: "" };
      return sourceIssue(
        { rule: "unresolved_import", ...finding },
        { workflow: null, path: "files" },
      );
    });
}

/** Imports of local files that remain when the types are gone. */
function localImports(module: SourceModule): { specifier: string; node: Node }[] {
  const found: { specifier: string; node: Node }[] = [];
  const used = new Set([...module.references.values()].map(({ node }) => node));
  for (const statement of module.parsed.program.body) {
    const isValue =
      (statement.type === "ImportDeclaration" && isValueImport(statement, used)) ||
      ((statement.type === "ExportNamedDeclaration" || statement.type === "ExportAllDeclaration") &&
        statement.exportKind !== "type");
    if (isValue && statement.source) {
      found.push({ specifier: statement.source.value, node: statement.source });
    }
  }
  for (const { source } of module.dynamicImports) {
    const specifier = literalKey(source);
    if (specifier !== undefined) found.push({ specifier, node: source });
  }
  return found.filter(({ specifier }) => isLocalSpecifier(specifier));
}

/** Bundlers drop a TypeScript import whose names are used as types only, so its file never runs. */
function isValueImport(statement: ImportDeclaration, used: ReadonlySet<Node>): boolean {
  if (statement.importKind === "type") return false;
  if (statement.specifiers.length === 0) return true;
  return statement.specifiers.some((specifier) => used.has(specifier));
}

/** Whether `inner` lies inside `outer`. */
export function contains(outer: Place, inner: Place): boolean {
  return (
    outer.module === inner.module &&
    outer.node.start <= inner.node.start &&
    inner.node.end <= outer.node.end
  );
}
