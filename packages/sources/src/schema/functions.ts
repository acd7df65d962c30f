import type { ArrowFunctionExpression, Function as FunctionNode, Node } from "oxc-parser";

export function isFunction(node: Node): node is FunctionNode | ArrowFunctionExpression {
  return (
    node.type === "FunctionDeclaration" ||
    node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression"
  );
}
