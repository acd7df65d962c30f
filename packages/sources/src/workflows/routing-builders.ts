import { buildComparison, buildRouting, isCompareOp, isRoutingBuilder } from "@engine/contract";
import type { MemberExpression } from "oxc-parser";
import { propertyName } from "../modules/binding.ts";
import { exportedAs, unwrap } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { CallPlace } from "../modules/source-module.ts";
import type { Builder } from "./evaluate.ts";

const PACKAGE = "@engine/sdk/routing";
const OPTIONS: ReadonlySet<string> = new Set(["affinity", "routing", "limits", "fairness"]);

/** Whether the builders mean something in the option at this path. */
export function takesRoutingBuilders([option = ""]: readonly string[]): boolean {
  return OPTIONS.has(option.replace(/\[.*$/, ""));
}

/** What the builders of `@engine/sdk/routing` and their members mean, in the options that take them (AFF-8). */
export function routingBuilderOf(
  graph: SourceGraph,
  call: CallPlace,
  path: readonly string[],
): Builder | undefined {
  if (!takesRoutingBuilders(path)) return undefined;
  const { module } = call;
  const callee = unwrap(call.node.callee);
  const name = exportedAs(graph, { module, node: callee }, PACKAGE);
  if (name !== undefined) {
    if (!isRoutingBuilder(name)) return undefined;
    return {
      build: (values) => buildRouting(name, values),
      pathOf: (argument) => pathOf(name, path, argument),
    };
  }
  const op = callee.type === "MemberExpression" ? memberName(callee) : undefined;
  if (callee.type !== "MemberExpression" || op === undefined || !isCompareOp(op)) return undefined;
  return {
    of: { module, node: callee.object },
    build: (values, of) => buildComparison(of, op, values),
  };
}

/** Where the record has what an argument stands for. */
function pathOf(name: string, path: readonly string[], argument: number): readonly string[] {
  const last = path.length - 1;
  if (name === "require") return [...path.slice(0, last), `${path[last]}[${argument}]`];
  return name === "score" ? [...path, `terms[${argument}]`] : path;
}

function memberName({ computed, property }: MemberExpression): string | undefined {
  return computed ? undefined : propertyName(property);
}
