import type { Node } from "oxc-parser";
import type { Binding } from "../modules/binding.ts";
import type { SourceModule } from "../modules/source-module.ts";
import type { ExpressionReader } from "./expression-reader.ts";
import { Unread } from "./unread.ts";

/** Values that types name, as `typeof Order` does. */
export class NamedValues {
  readonly #expressions: ExpressionReader;
  readonly #modules = new Map<SourceModule, ReadonlyMap<string, Binding>>();

  constructor(expressions: ExpressionReader) {
    this.#expressions = expressions;
  }

  /** @param names `["schemas", "Order"]` of `typeof schemas.Order`. */
  read(module: SourceModule, node: Node, [name = "", ...keys]: readonly string[]): unknown {
    const at = { module, node };
    const binding = this.#bindings(module).get(name);
    if (!binding)
      return new Unread(at, `uses ${name}, which is not declared at the top of the file`);
    const value = this.#expressions.named(module, binding, at);
    return keys.reduce((found, key) => this.#expressions.member(found, key, at), value);
  }

  /** What the file declares outside of any function. */
  #bindings(module: SourceModule): ReadonlyMap<string, Binding> {
    const known = this.#modules.get(module);
    if (known) return known;
    const names = new Map<string, Binding>();
    for (const [node, binding] of module.declarations) {
      const name = localName(node);
      if (name !== undefined && isAtTop(module, node)) names.set(name, binding);
    }
    this.#modules.set(module, names);
    return names;
  }
}

function localName(node: Node): string | undefined {
  if (node.type === "Identifier") return node.name;
  const isImport =
    node.type === "ImportSpecifier" ||
    node.type === "ImportDefaultSpecifier" ||
    node.type === "ImportNamespaceSpecifier";
  return isImport ? node.local.name : undefined;
}

function isAtTop(module: SourceModule, node: Node): boolean {
  for (let up = module.parents.get(node); up; up = module.parents.get(up)) {
    if (up.type === "BlockStatement" || up.type.includes("Function")) return false;
  }
  return true;
}
