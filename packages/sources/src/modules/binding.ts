import type { Node, VariableDeclarator } from "oxc-parser";

/** What a name stands for in one file. Two references to one declaration share one object. */
export type Binding = (
  | { kind: "import"; source: string; imported: string; node: Node }
  | {
      kind: "variable";
      /** `const`, `let`, `var`, `using`. */
      keyword: string;
      node: VariableDeclarator;
      /** Keys that lead from the initialiser to this name; undefined past a default or a rest. */
      keys: readonly string[] | undefined;
    }
  | { kind: "function" | "class" | "parameter" | "other"; node: Node }
) & {
  /** Right-hand sides of assignments to the name or to a member of it. */
  readonly assigned: Node[];
};

/** The names a pattern declares, each with the keys that lead to it. */
export function patternNames(pattern: Node): { id: Node; keys: string[] | undefined }[] {
  const names: { id: Node; keys: string[] | undefined }[] = [];
  visit(pattern, []);
  return names;

  function visit(node: Node, keys: string[] | undefined): void {
    if (node.type === "Identifier") names.push({ id: node, keys });
    if (node.type === "AssignmentPattern") visit(node.left, undefined);
    if (node.type === "RestElement") visit(node.argument, undefined);
    if (node.type === "ArrayPattern") {
      node.elements.forEach((element, index) => {
        if (element !== null) visit(element, keys && [...keys, String(index)]);
      });
    }
    if (node.type !== "ObjectPattern") return;
    for (const property of node.properties) {
      if (property.type === "RestElement") {
        visit(property, undefined);
        continue;
      }
      const key = property.computed ? undefined : propertyName(property.key);
      visit(property.value, keys && key !== undefined ? [...keys, key] : undefined);
    }
  }
}

/** The text of a property key that is written out; undefined for a computed expression. */
export function propertyName(key: Node): string | undefined {
  if (key.type === "Identifier") return key.name;
  return literalKey(key);
}

/** The key a literal stands for in `object[literal]`. */
export function literalKey(node: Node): string | undefined {
  if (node.type === "TemplateLiteral" && node.expressions.length === 0) {
    return node.quasis[0]?.value.cooked ?? undefined;
  }
  if (node.type !== "Literal") return undefined;
  return typeof node.value === "string" || typeof node.value === "number"
    ? String(node.value)
    : undefined;
}
