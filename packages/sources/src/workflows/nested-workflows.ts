import { NAME_RULE, parseWorkflowName } from "@engine/contract";
import type { Node } from "oxc-parser";
import { resolve } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { Finding } from "../modules/source-issues.ts";
import type { CallPlace } from "../modules/source-module.ts";
import { definedBy } from "./definition.ts";
import { evaluate } from "./evaluate.ts";

export interface NestedWorkflows {
  /** `namespace/name`, each once, in source order. */
  names: string[];
  issues: Finding[];
  warnings: Finding[];
}

/**
 * The targets of `call(…)` (EXE-61): workflow objects and static text. A computed one is a warning,
 * since only the call itself can tell what it starts.
 *
 * @param nameOf The qualified name of a `workflow(…)`; null when it could not be read.
 */
export function nestedWorkflows(
  graph: SourceGraph,
  calls: readonly CallPlace[],
  nameOf: (workflow: Node) => string | null | undefined,
): NestedWorkflows {
  const names = new Set<string>();
  const issues: Finding[] = [];
  const warnings: Finding[] = [];
  for (const call of calls) readTarget(call);
  return { names: [...names], issues, warnings };

  function readTarget({ module, node: call }: CallPlace): void {
    const [node] = call.arguments;
    const place = { module, node: node ?? call };
    if (node?.type === "SpreadElement") return void warnings.push({ ...DYNAMIC, place });
    const target = node && resolve(graph, { module, node });
    if (target?.kind === "node" && target.node.type === "CallExpression") {
      const definition = { module: target.module, node: target.node };
      if (definedBy(graph, definition) === "workflow") {
        const name = nameOf(target.node);
        if (name) names.add(name);
        return;
      }
    }
    // What is not static here is no mistake: its findings are dropped for the one warning.
    const { value, findings } = node
      ? evaluate(graph, place, { wants: () => true, owner: "call()" })
      : { value: undefined, findings: [] };
    if (findings.length > 0) return void warnings.push({ ...DYNAMIC, place });
    const named = typeof value === "string" ? parseWorkflowName(value) : undefined;
    if (named) names.add(`${named.namespace}/${named.name}`);
    else issues.push({ ...NO_TARGET, place });
  }
}

const DYNAMIC = {
  rule: "dynamic_call",
  message:
    "the target of call() is computed, so it is looked up and authorised when the call happens; a workflow object or static text would be checked now",
  path: "nested_workflows",
} as const;

const NO_TARGET = {
  rule: "invalid_option",
  message: `call() needs a workflow object, "name" or "namespace/name", each ${NAME_RULE}`,
  path: "nested_workflows",
} as const;
