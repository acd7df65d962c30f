import {
  checkTaskOptions,
  checkWorkflowOptions,
  isStaticOption,
  OPAQUE,
  type OptionIssue,
  type OptionOwner,
} from "@engine/contract";
import type { Node } from "oxc-parser";
import { propertyName } from "../modules/binding.ts";
import { functionAt } from "../modules/functions.ts";
import { calledOfSdk, resolve, unwrap } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { Finding } from "../modules/source-issues.ts";
import type { CallPlace, Place } from "../modules/source-module.ts";
import { type Evaluated, evaluate, type Made } from "./evaluate.ts";
import { describedAbove } from "./jsdoc.ts";
import { packageIssues } from "./requests-option.ts";
import { routingBuilderOf, takesRoutingBuilders } from "./routing-builders.ts";
import { scheduleBuilderOf } from "./schedule-option.ts";

/** What the catalog looks at; the values of other options are checked and then forgotten. */
export interface ReadOptions {
  readonly name?: unknown;
  readonly namespace?: unknown;
  readonly description?: unknown;
  readonly metadata?: unknown;
  readonly timeout?: unknown;
  readonly durability?: unknown;
  readonly runner?: unknown;
  readonly runnerOptions?: unknown;
  readonly requests?: unknown;
  readonly schedule?: unknown;
  readonly hooks?: unknown;
  readonly affinity?: unknown;
  readonly routing?: unknown;
  readonly limits?: unknown;
  readonly priority?: unknown;
  readonly fairness?: unknown;
  readonly secrets?: unknown;
  readonly configs?: unknown;
  readonly authExempt?: unknown;
  readonly risk?: unknown;
  readonly sensitive?: unknown;
  readonly cache?: unknown;
}

/** A `workflow(…)` or `task(…)` as read from its source. */
export interface Definition {
  readonly place: CallPlace;
  /** Undefined when it is missing or could not be read, which is then among the findings. */
  readonly name: string | undefined;
  readonly description: string | null;
  readonly options: Omit<ReadOptions, "name" | "description">;
  readonly body: Place | undefined;
  /** Where its `input` and `output` schemas are written. */
  readonly schemas: { readonly input: Place | undefined; readonly output: Place | undefined };
  /** Where its `secrets` are written; where it is itself when they are not. */
  readonly secretsAt: Place;
  /** The same of its `limits`. */
  readonly limitsAt: Place;
  /** What builders made of its options. */
  readonly made: readonly Made[];
  readonly findings: readonly Finding[];
}

/** What a call defines: by the binding of its callee, whatever name that has in the file. */
export function definedBy(graph: SourceGraph, call: CallPlace): OptionOwner | undefined {
  const name = calledOfSdk(graph, call);
  return name === "workflow" || name === "task" ? name : undefined;
}

export function readDefinition(
  graph: SourceGraph,
  owner: OptionOwner,
  place: CallPlace,
): Definition {
  const { options, body, findings } = splitArguments(graph, owner, place);
  const functionName = body && functionNameOf(graph, body);
  const evaluated = options && readOptions(graph, owner, options);
  const values = recordOf(evaluated?.value);
  // Options that could not be read whole may well have a name.
  const isWhole = !evaluated || (values !== undefined && !evaluated.incomplete.has(""));
  const { name = functionName, description, ...others }: ReadOptions = values ?? {};

  if (evaluated) findings.push(...evaluated.findings);
  if (options && values === undefined && evaluated?.value !== OPAQUE) {
    const message = `the options of ${owner}() must be an object`;
    findings.push({ rule: "invalid_option", message, place: options, path: "" });
  }
  const check = owner === "workflow" ? checkWorkflowOptions : checkTaskOptions;
  const issues = check(values ?? {}, functionName);
  if (owner === "workflow") issues.push(...packageIssues(values?.["requests"]));
  for (const issue of issues) {
    if ((isWhole || issue.rule !== "missing_name") && !isUnread(issue.path, evaluated)) {
      findings.push(optionFinding(issue, place, evaluated));
    }
  }
  const isNamed = typeof name === "string" && (isWhole || values?.["name"] !== undefined);
  return {
    place,
    name: isNamed ? name : undefined,
    description: typeof description === "string" ? description : describedAbove(graph, place, body),
    options: others,
    body,
    schemas: { input: writtenAt(evaluated, "input"), output: writtenAt(evaluated, "output") },
    secretsAt: writtenAt(evaluated, "secrets") ?? place,
    limitsAt: writtenAt(evaluated, "limits") ?? place,
    made: evaluated?.made ?? [],
    findings,
  };
}

/** Whether what seems to be missing may be in a part that could not be read. */
function isUnread(path: string, evaluated: Evaluated | undefined): boolean {
  const owner = path.slice(0, Math.max(0, path.lastIndexOf(".")));
  if (owner === "" || !evaluated?.incomplete.has(owner)) return false;
  return !evaluated.written.has(path);
}

/** `(options, function)`, or the short form with a function alone. */
function splitArguments(
  graph: SourceGraph,
  owner: OptionOwner,
  place: CallPlace,
): { options: Place | undefined; body: Place | undefined; findings: Finding[] } {
  const { module, node } = place;
  const spread = node.arguments.find(({ type }) => type === "SpreadElement");
  // Evaluated as options it is refused at its place, and nothing is said about what it may hold.
  if (spread) return { options: { module, node: spread }, body: undefined, findings: [] };
  const [first, second] = node.arguments.map((argument): Place => ({ module, node: argument }));
  const isShort = first !== undefined && second === undefined && mayBeFunction(graph, first);
  const body = isShort ? first : second;
  const options = isShort ? undefined : first;
  if (body !== undefined && mayBeFunction(graph, body)) return { options, body, findings: [] };
  const message = `${owner}() needs a function: ${owner}(options, function) or ${owner}(named function)`;
  const finding: Finding = { rule: "invalid_option", message, place: body ?? place, path: "" };
  return { options, body, findings: [finding] };
}

/** The options of a definition or of a copy of a task. */
export function readOptions(graph: SourceGraph, owner: OptionOwner, place: Place): Evaluated {
  return evaluate(graph, place, {
    wants: (path) => isStaticOption(owner, path.map(withoutIndex)),
    builderOf: (call, path) =>
      scheduleBuilderOf(graph, call, path) ?? routingBuilderOf(graph, call, path),
    alsoAllowed: (path) =>
      takesRoutingBuilders(path) ? ", and calls of what @engine/sdk/routing exports" : undefined,
    owner: `${owner}()`,
  });
}

/** `limits` of `limits[1]`. */
function withoutIndex(key: string): string {
  return key.replace(/(\[\d+\])+$/, "");
}

export function recordOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as Record<string, unknown>;
}

/** Puts a wrong option where it is written, or the nearest thing that is. */
export function optionFinding(
  { path, rule, message }: OptionIssue,
  call: Place,
  evaluated: Evaluated | undefined,
): Finding {
  const keys = path.split(".");
  let place: Place | undefined;
  for (let length = keys.length; length > 0 && place === undefined; length--) {
    const at = keys.slice(0, length).join(".");
    place = evaluated?.written.get(at) ?? evaluated?.written.get(withoutIndex(at));
  }
  if (rule !== "unknown_option" && place?.node.type === "Property") {
    place = { module: place.module, node: place.node.value };
  }
  return { rule, message, place: place ?? call, path };
}

/** The value of an option, wherever it is written. */
export function writtenAt(evaluated: Evaluated | undefined, option: string): Place | undefined {
  const place = evaluated?.written.get(option);
  if (place?.node.type !== "Property") return undefined;
  return { module: place.module, node: place.node.value };
}

/** False for what is certainly something else, such as an object of options. */
function mayBeFunction(graph: SourceGraph, place: Place): boolean {
  const target = resolve(graph, place);
  return !(target.kind === "node" && NO_FUNCTIONS.has(target.node.type));
}

const NO_FUNCTIONS: ReadonlySet<string> = new Set([
  "ArrayExpression",
  "BinaryExpression",
  "Literal",
  "ObjectExpression",
  "TemplateLiteral",
  "UnaryExpression",
]);

/** The `name` the function will have: its own, or that of the binding or property it is written to. */
function functionNameOf(graph: SourceGraph, body: Place): string | undefined {
  const found = functionAt(graph, body);
  if (!found) return undefined;
  const { module, node } = found;
  if (node.type !== "ArrowFunctionExpression" && node.id) return node.id.name;
  let child: Node = node;
  let parent = module.parents.get(child);
  while (parent && unwrap(parent) !== parent && unwrap(parent) === node) {
    child = parent;
    parent = module.parents.get(child);
  }
  if (parent?.type === "VariableDeclarator" && parent.id.type === "Identifier") {
    return parent.id.name;
  }
  if (parent?.type === "Property" && !parent.computed) return propertyName(parent.key);
  return undefined;
}
