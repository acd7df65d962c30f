import type {
  ArrayExpression,
  CallExpression,
  Node,
  ObjectExpression,
  ObjectProperty,
} from "oxc-parser";
import { type Binding, literalKey, propertyName } from "./binding.ts";
import { isLocalSpecifier } from "./local-path.ts";
import { type SourceGraph, sentModule } from "./source-graph.ts";
import type { Place, SourceModule } from "./source-module.ts";

/** Where following names leads: through `const` bindings, members, imports and the files sent. */
export type Target =
  /** The expression, function or class that is meant. */
  | { kind: "node"; module: SourceModule; node: Node }
  /** All exports of a file sent. */
  | { kind: "module"; module: SourceModule; at: Place }
  /** Something of a package; `keys` lead to it from the package's exports. */
  | { kind: "package"; source: string; keys: readonly string[]; at: Place }
  /** A name no file declares, such as `process`. */
  | { kind: "global"; name: string; keys: readonly string[]; at: Place }
  /** The way ends here, for the reason given in words that follow "because it". */
  | { kind: "unknown"; reason: string; at: Place };

/** What an export or import leads to first: a declaration, or something that is none. */
export type Origin = { kind: "binding"; module: SourceModule; binding: Binding } | Target;

/** Follows names from a place to what they mean. */
export function resolve(graph: SourceGraph, place: Place): Target {
  return new Follower(graph).resolve(place);
}

/** Follows names from what an export or import leads to. */
export function followOrigin(graph: SourceGraph, origin: Origin, at: Place): Target {
  return new Follower(graph).origin(origin, at);
}

/** `key` of what a target means. */
export function memberOf(graph: SourceGraph, target: Target, key: string, at: Place): Target {
  return new Follower(graph).member(target, key, at);
}

/** Where bindings lead, once it is known: many workflows may go by one chain of names. */
const known = new WeakMap<Binding, Target>();

/** Answers one question; every `at` is the place that a target which leads nowhere tells. */
class Follower {
  readonly #graph: SourceGraph;
  /** The bindings that are being followed now; each is taken out when it has been followed. */
  readonly #open = new Set<Binding>();

  constructor(graph: SourceGraph) {
    this.#graph = graph;
  }

  resolve({ module, node: wrapped }: Place): Target {
    this.#graph.spend(1);
    const node = unwrap(wrapped);
    const at = { module, node };
    if (node.type === "Identifier") {
      const binding = bindingOf(module, node);
      if (binding === undefined) return { kind: "global", name: node.name, keys: [], at };
      return this.#binding(module, binding, at);
    }
    if (node.type === "MemberExpression") {
      const key = this.#key(module, node.property, node.computed);
      if (key === undefined) return unknown(at, "reads a member whose name is not static");
      return this.member(this.resolve({ module, node: node.object }), key, at);
    }
    return { kind: "node", module, node };
  }

  origin(origin: Origin, at: Place): Target {
    if (origin.kind === "node") return this.resolve(origin);
    if (origin.kind !== "binding") return origin;
    const { module, binding } = origin;
    if (binding.kind !== "import") return this.#binding(module, binding, at);
    if (this.#open.has(binding)) return unknown(at, "leads back to itself");
    this.#open.add(binding);
    const target = this.#binding(module, binding, at);
    this.#open.delete(binding);
    return target;
  }

  member(target: Target, key: string, at: Place): Target {
    switch (target.kind) {
      case "package":
      case "global":
        return { ...target, keys: [...target.keys, key], at };
      case "module": {
        const origin = exportOrigin(this.#graph, target.module, key);
        if (origin === undefined) return unknown(at, `is not exported by ${target.module.path}`);
        return this.origin(origin, at);
      }
      case "node": {
        const { module, node } = target;
        if (node.type === "ObjectExpression") return this.#property(module, node, key, at);
        const element = node.type === "ArrayExpression" && elementAt(node, key);
        if (element) return this.resolve({ module, node: element });
        return unknown(at, "is no member of an object or array written out in the files sent");
      }
      case "unknown":
        return target;
    }
  }

  /** The key that a member has or is read by, when it is written out or a `const` with a literal. */
  #key(module: SourceModule, node: Node, isComputed: boolean): string | undefined {
    if (!isComputed) return propertyName(node);
    const key = this.resolve({ module, node });
    return key.kind === "node" ? literalKey(key.node) : undefined;
  }

  #binding(module: SourceModule, binding: Binding, at: Place): Target {
    switch (binding.kind) {
      case "import":
        return this.origin(importOrigin(this.#graph, module, binding, at), at);
      case "variable": {
        const { init } = binding.node;
        if (binding.keyword !== "const") {
          return unknown(at, `is declared with ${binding.keyword}, so it may change`);
        }
        if (binding.assigned.length > 0) return unknown(at, "is changed after its declaration");
        if (init === null) return unknown(at, "has no fixed value");
        if (binding.keys === undefined) {
          return unknown(at, "is taken apart with a default or a rest");
        }
        if (this.#open.has(binding)) return unknown(at, "leads back to itself");
        const before = known.get(binding);
        if (before) return before;
        this.#open.add(binding);
        let target = this.resolve({ module, node: init });
        for (const key of binding.keys) target = this.member(target, key, at);
        this.#open.delete(binding);
        // Others say where they were asked for.
        if (target.kind === "node") known.set(binding, target);
        return target;
      }
      case "function":
      case "class":
        if (binding.assigned.length > 0) return unknown(at, "is changed after its declaration");
        return { kind: "node", module, node: binding.node };
      case "parameter":
        return unknown(at, "is a parameter");
      case "other":
        return unknown(at, "is an enum or a namespace");
    }
  }

  #property(module: SourceModule, object: ObjectExpression, key: string, at: Place): Target {
    const members = membersByName(object);
    if (members) {
      const member = members.get(key);
      return member ? this.#value(module, member, at) : unknown(at, ABSENT);
    }
    for (const member of object.properties.toReversed()) {
      this.#graph.spend(1);
      if (member.type === "SpreadElement") {
        const spread = this.resolve({ module, node: member.argument });
        const found = this.member(spread, key, at);
        if (found.kind === "unknown" && found.reason === ABSENT) continue;
        return found;
      }
      const name = this.#key(module, member.key, member.computed);
      if (name === undefined) return unknown(at, "is a member of an object with computed names");
      if (name === key) return this.#value(module, member, at);
    }
    return unknown(at, ABSENT);
  }

  #value(module: SourceModule, { kind, value }: ObjectProperty, at: Place): Target {
    return kind === "init" ? this.resolve({ module, node: value }) : unknown(at, "is a getter");
  }
}

/** What a reference or a declaration stands for. */
function bindingOf({ references, declarations }: SourceModule, node: Node): Binding | undefined {
  return references.get(node) ?? declarations.get(node);
}

/** What an import names in a file or package; `*` is all of it. */
export function importOrigin(
  graph: SourceGraph,
  module: SourceModule,
  { source, imported: name }: { readonly source: string; readonly imported: string },
  at: Place,
): Origin {
  if (!isLocalSpecifier(source)) {
    return { kind: "package", source, keys: name === "*" ? [] : [name], at };
  }
  const imported = graph.importedBy(module, source);
  if (imported === undefined) return unknown(at, `comes from ${source}, which was not sent`);
  if (imported === "unread") return unknown(at, `comes from ${source}, which is not program text`);
  if (name === "*") return { kind: "module", module: imported, at };
  return (
    exportOrigin(graph, imported, name) ?? unknown(at, `is not exported as ${name} by ${source}`)
  );
}

/** What a file exports under a name, its `export * from` included. */
export function exportOrigin(
  graph: SourceGraph,
  module: SourceModule,
  name: string,
  seen: Set<SourceModule> = new Set(),
): Origin | undefined {
  if (seen.has(module)) return undefined;
  seen.add(module);
  const { named, stars } = graph.exportsOf(module);
  const found = named.get(name);
  if (found?.kind === "own") {
    const { node } = found;
    const binding = bindingOf(module, node);
    return binding ? { kind: "binding", module, binding } : { kind: "node", module, node };
  }
  if (found?.kind === "from") {
    const at = { module, node: found.node };
    const next = sentModule(graph, module, found.source);
    if (next && found.imported !== "*") return exportOrigin(graph, next, found.imported, seen);
    return importOrigin(graph, module, found, at);
  }
  if (name === "default") return undefined;
  for (const star of stars) {
    const next = sentModule(graph, module, star);
    const origin = next && exportOrigin(graph, next, name, seen);
    if (origin) return origin;
  }
  // `export * from "@engine/sdk"`: of several packages nothing tells which one has the name.
  const [outside, ...more] = stars.filter((star) => !isLocalSpecifier(star));
  if (outside === undefined || more.length > 0) return undefined;
  const at = { module, node: module.parsed.program };
  return { kind: "package", source: outside, keys: [name], at };
}

function elementAt(array: ArrayExpression, key: string): Node | undefined {
  const index = /^\d{1,9}$/.test(key) ? Number(key) : -1;
  const { elements } = array;
  const fixed = fixedElements.get(array) ?? countFixed(elements);
  fixedElements.set(array, fixed);
  return index >= 0 && index < fixed ? (elements[index] ?? undefined) : undefined;
}

/** How many elements come before a spread. */
const fixedElements = new WeakMap<ArrayExpression, number>();

function countFixed(elements: readonly (Node | null)[]): number {
  const spread = elements.findIndex((element) => element?.type === "SpreadElement");
  return spread < 0 ? elements.length : spread;
}

const ABSENT = "is not a member of that object";

const plainMembers = new WeakMap<ObjectExpression, ReadonlyMap<string, ObjectProperty> | null>();

/** The members of an object whose names are all written out; null for any other. */
function membersByName(object: ObjectExpression): ReadonlyMap<string, ObjectProperty> | null {
  const before = plainMembers.get(object);
  if (before !== undefined) return before;
  const members = new Map<string, ObjectProperty>();
  let isPlain = true;
  for (const member of object.properties) {
    const name =
      member.type === "SpreadElement" || member.computed ? undefined : propertyName(member.key);
    if (member.type === "SpreadElement" || name === undefined) isPlain = false;
    else members.set(name, member);
  }
  plainMembers.set(object, isPlain ? members : null);
  return isPlain ? members : null;
}

function unknown(at: Place, reason: string): Target & { kind: "unknown" } {
  return { kind: "unknown", reason, at };
}

/** The expression below what only types need. */
export function unwrap(node: Node): Node {
  let inner = node;
  while (
    inner.type === "TSAsExpression" ||
    inner.type === "TSSatisfiesExpression" ||
    inner.type === "TSNonNullExpression" ||
    inner.type === "TSTypeAssertion" ||
    inner.type === "TSInstantiationExpression" ||
    inner.type === "ParenthesizedExpression"
  ) {
    inner = inner.expression;
  }
  return inner;
}

/** The name under which the SDK exports what is called; undefined when it is not the SDK's. */
export function calledOfSdk(
  graph: SourceGraph,
  { module, node: { callee } }: Place<CallExpression>,
): string | undefined {
  return exportedAs(graph, { module, node: callee }, "@engine/sdk");
}

/** The name under which a package exports what is meant; undefined for anything else. */
export function exportedAs(
  graph: SourceGraph,
  { module, node: wrapped }: Place,
  source: string,
): string | undefined {
  const node = unwrap(wrapped);
  if (node.type !== "Identifier" && node.type !== "MemberExpression") return undefined;
  const target = resolve(graph, { module, node });
  if (target.kind !== "package" || target.source !== source) return undefined;
  return target.keys.length === 1 ? target.keys[0] : undefined;
}
