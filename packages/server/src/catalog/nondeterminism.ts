import { isBuiltin } from "node:module";
import type { Node } from "oxc-parser";
import { resolve, type Target } from "./resolve.ts";
import type { SourceGraph } from "./source-graph.ts";
import type { Finding } from "./source-issues.ts";
import type { SourceModule } from "./source-module.ts";

const RECORD = "do it in a task, whose result is recorded and replayed";

/** The warning about a call in a body that may answer differently when the body is replayed (EXE-65). */
export function nondeterministicCall(
  graph: SourceGraph,
  module: SourceModule,
  node: Node,
): Finding | undefined {
  const target = calledTarget(graph, module, node);
  if (target === undefined) return undefined;
  const advice = adviceFor(target, node.type === "MemberExpression");
  if (advice === undefined) return undefined;
  return {
    rule: "nondeterministic_call",
    message: `${advice.what} may answer differently when the body is replayed; ${advice.fix}`,
    place: { module, node },
    path: "body",
  };
}

function calledTarget(graph: SourceGraph, module: SourceModule, node: Node): Target | undefined {
  if (node.type === "CallExpression" || node.type === "NewExpression") {
    return resolve(graph, { module, node: node.callee });
  }
  return node.type === "MemberExpression" ? resolve(graph, { module, node }) : undefined;
}

function adviceFor(target: Target, isRead: boolean): { what: string; fix: string } | undefined {
  if (target.kind === "package") {
    if (!isBuiltin(target.source)) return undefined;
    const what = `${target.source} in a workflow body`;
    return !isRead || isProcess(target.source) ? { what, fix: RECORD } : undefined;
  }
  if (target.kind !== "global") return undefined;
  const [name, ...keys] =
    target.name === "globalThis" ? target.keys : [target.name, ...target.keys];
  if (name === "process" && keys.length > 0) {
    return { what: `process.${keys.join(".")}`, fix: `pass it as input, or ${RECORD}` };
  }
  if (isRead) return undefined;
  if (name === "fetch" && keys.length === 0) return { what: "fetch", fix: RECORD };
  if (name === "performance" && keys[0] === "now") {
    return { what: "performance.now", fix: "use Date.now, which replays as it was" };
  }
  return undefined;
}

function isProcess(source: string): boolean {
  return source === "node:process" || source === "process";
}
