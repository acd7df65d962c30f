import type { ArrowFunctionExpression, Function as FunctionNode, Node } from "oxc-parser";
import { resolve } from "./resolve.ts";
import type { SourceGraph } from "./source-graph.ts";
import type { Place } from "./source-module.ts";

export type AnyFunction = FunctionNode | ArrowFunctionExpression;

export function isFunction(node: Node): node is AnyFunction {
  return (
    node.type === "FunctionDeclaration" ||
    node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression"
  );
}

/** The function that a place leads to; undefined when it is none, or not in the files sent. */
export function functionAt(graph: SourceGraph, place: Place): Place<AnyFunction> | undefined {
  const target = resolve(graph, place);
  if (target.kind !== "node" || !isFunction(target.node)) return undefined;
  return { module: target.module, node: target.node };
}
