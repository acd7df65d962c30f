import {
  DEFAULT_NAMESPACE,
  type ExtractedWorkflow,
  type SourceFile,
  type SourceIssue,
} from "@engine/contract";
import type { CallExpression, Node } from "oxc-parser";
import { exportOrigin, followOrigin } from "../modules/resolve.ts";
import {
  type SourceGraph,
  sentModule,
  sourceGraph,
  TooIntricate,
} from "../modules/source-graph.ts";
import { type Finding, fileIssue, inOrder, sourceIssue } from "../modules/source-issues.ts";
import type { Place, SourceModule } from "../modules/source-module.ts";
import { type ReadSource, readSource } from "../modules/source-reading.ts";
import { createSchemaReader } from "../schema/schema-reader.ts";
import { type DeclaredLimit, declaredLimits } from "./declared-limits.ts";
import { type DeclaredSecret, declaredSecrets } from "./declared-secrets.ts";
import { type Definition, definedBy, readDefinition } from "./definition.ts";
import { nestedWorkflows } from "./nested-workflows.ts";
import { type Reached, reachFrom } from "./reach.ts";
import { workflowValues } from "./record-values.ts";
import { shadowedName } from "./shadowed-name.ts";
import { createTaskReader } from "./task-reading.ts";
import { unknownInputPaths } from "./unknown-input-paths.ts";

export interface Extraction {
  /** Empty as soon as there is one issue: a file is registered whole or not at all (EXE-64). */
  workflows: ExtractedWorkflow[];
  issues: SourceIssue[];
  warnings: SourceIssue[];
  /** Each with what is said where there is no such secret. */
  secrets: DeclaredSecret[];
  /** The same of limits that operators set. */
  limits: DeclaredLimit[];
}

/** Reads the workflows of the files sent, without running any of it (EXE-60, EXE-61). */
export function extractWorkflows({
  entry,
  files,
  read = readSource,
}: {
  entry: string;
  files: readonly SourceFile[];
  read?: ReadSource;
}): Extraction {
  try {
    const { graph, issues } = sourceGraph(entry, files, read);
    if (graph === undefined) {
      return { workflows: [], issues: inOrder(issues, []), warnings: [], secrets: [], limits: [] };
    }
    const found = extractFrom(graph);
    const order = graph.modules.map(({ path }) => path);
    const all = inOrder([...issues, ...found.issues], order);
    return {
      workflows: all.length === 0 ? found.workflows : [],
      issues: all,
      warnings: inOrder(found.warnings, order),
      secrets: found.secrets,
      limits: found.limits,
    };
  } catch (error) {
    // The stack ends (RangeError) or the patience does: both mean a file no person wrote.
    if (!(error instanceof RangeError || error instanceof TooIntricate)) throw error;
    const issues = [tooIntricate(entry, MULTIPLIES)];
    return { workflows: [], issues, warnings: [], secrets: [], limits: [] };
  }
}

const MULTIPLIES =
  "the files are too intricate to be read: spreads or references multiply without end";

function extractFrom(graph: SourceGraph): Extraction {
  const workflows: ExtractedWorkflow[] = [];
  const issues: SourceIssue[] = [];
  const warnings: SourceIssue[] = [];
  const secrets: DeclaredSecret[] = [];
  const limits: DeclaredLimit[] = [];
  const exported = exportedNodes(graph);
  const readTasks = createTaskReader(graph);
  const readSchemas = createSchemaReader(graph);
  // What a file sent for its types defines is registered with a file that runs it.
  const definitions = graph.modules.flatMap((module) =>
    workflowCalls(graph, module)
      .filter((node) => graph.running.has(module) || exported.has(node))
      .map((node) => readDefinition(graph, "workflow", { module, node })),
  );
  if (definitions.length > MAX_WORKFLOWS) {
    const message = `the files define ${definitions.length} workflows, and at most ${MAX_WORKFLOWS} are registered at once; register them with several files`;
    return {
      workflows,
      issues: [tooIntricate(graph.entry.path, message)],
      warnings,
      secrets,
      limits,
    };
  }
  const firstOf = new Map<string, Place>();
  const nameOf = new Map(definitions.map((each) => [each.place.node as Node, qualifiedName(each)]));

  definitions.forEach((definition, index) => {
    const subject = { workflow: qualifiedName(definition), path: `workflows[${index}]` };
    const report = (finding: Finding) => issues.push(sourceIssue(finding, subject));
    definition.findings.forEach(report);
    if (!exported.has(definition.place.node)) report(notExported(graph, definition));
    const earlier = subject.workflow === null ? undefined : firstOf.get(subject.workflow);
    if (earlier) report(duplicateWorkflow(subject.workflow, definition, earlier));
    else if (subject.workflow !== null) firstOf.set(subject.workflow, definition.place);

    const reached = definition.body ? reachFrom(graph, definition.body) : NOTHING;
    const read = readTasks(reached, subject);
    const schemas = readSchemas(definition);
    const nested = nestedWorkflows(graph, reached.calls, (node) => nameOf.get(node));
    issues.push(...read.issues);
    const { options, secretsAt, limitsAt } = definition;
    limits.push(...declaredLimits(options.limits, limitsAt, subject));
    secrets.push(...declaredSecrets(options.secrets, secretsAt, subject), ...read.secrets);
    nested.issues.forEach(report);
    const paths = unknownInputPaths(definition.made, schemas.input_schema);
    const doubts = [
      reached.warnings,
      nested.warnings,
      schemas.warnings,
      paths,
      shadowing(definition),
    ];
    warnings.push(...doubts.flat().map((each) => sourceIssue(each, subject)));
    const namespace = namespaceOf(definition) ?? DEFAULT_NAMESPACE;
    const { name = "" } = definition;
    workflows.push({
      namespace,
      name,
      description: definition.description,
      input_schema: schemas.input_schema,
      output_schema: schemas.output_schema,
      tasks: read.tasks,
      nested_workflows: nested.names,
      ...workflowValues(definition.options, { namespace, name }),
    });
  });
  if (definitions.length === 0) issues.push(noWorkflow(graph.entry.path));
  return { workflows, issues, warnings, secrets, limits };
}

/** They are written in one transaction, which holds the server's loop as long as it takes. */
const MAX_WORKFLOWS = 20_000;

const NOTHING: Reached = { tasks: [], copies: [], calls: [], warnings: [] };

function workflowCalls(graph: SourceGraph, module: SourceModule): CallExpression[] {
  return module.calls
    .filter((call) => definedBy(graph, { module, node: call }) === "workflow")
    .toSorted((a, b) => a.start - b.start);
}

/** What the exports of the entry lead to, those of `export * from` a file included. */
function exportedNodes(graph: SourceGraph): Set<unknown> {
  const nodes = new Set<unknown>();
  for (const name of exportedNames(graph, graph.entry)) {
    const at = { module: graph.entry, node: graph.entry.parsed.program };
    const origin = exportOrigin(graph, graph.entry, name);
    const target = origin && followOrigin(graph, origin, at);
    if (target?.kind === "node") nodes.add(target.node);
  }
  return nodes;
}

function exportedNames(
  graph: SourceGraph,
  module: SourceModule,
  seen: Set<SourceModule> = new Set(),
): string[] {
  if (seen.has(module)) return [];
  seen.add(module);
  const { named, stars } = graph.exportsOf(module);
  const inherited = stars.flatMap((star) => {
    const next = sentModule(graph, module, star);
    return next ? exportedNames(graph, next, seen) : [];
  });
  return [...named.keys(), ...inherited];
}

/** Null when the name or the namespace could not be read. */
function qualifiedName(definition: Definition): string | null {
  const namespace = namespaceOf(definition);
  if (definition.name === undefined || namespace === undefined) return null;
  return `${namespace}/${definition.name}`;
}

function namespaceOf({ options }: Definition): string | undefined {
  const given = options.namespace;
  if (given === undefined) return DEFAULT_NAMESPACE;
  return typeof given === "string" ? given : undefined;
}

function notExported(graph: SourceGraph, { place, name }: Definition): Finding {
  const known = name === undefined ? "this workflow" : `workflow ${name}`;
  const message = `${known} is not exported by ${graph.entry.path}: export the const it is bound to from there`;
  return { rule: "not_exported", message, place, path: "" };
}

function shadowing(definition: Definition): Finding[] {
  const { name = "", place } = definition;
  const message = shadowedName(namespaceOf(definition) ?? DEFAULT_NAMESPACE, name);
  return message === undefined ? [] : [{ rule: "shadowed_name", message, place, path: "name" }];
}

function duplicateWorkflow(name: string | null, { place }: Definition, first: Place): Finding {
  const { line, column } = first.module.position(first.node.start);
  const message = `two workflows are named ${name}, the first at ${first.module.path}:${line}:${column}; rename one or give it another namespace`;
  return { rule: "duplicate_workflow", message, place, path: "name" };
}

function noWorkflow(file: string): SourceIssue {
  const message = `${file} has no workflow: import { workflow } from "@engine/sdk" and export what it returns`;
  return fileIssue({ rule: "no_workflow", message, file, path: "workflows" });
}

function tooIntricate(file: string, message: string): SourceIssue {
  return fileIssue({ rule: "too_intricate", message, file, path: "workflows" });
}
