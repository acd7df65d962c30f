import type { ArrayExpression, Node, ObjectExpression, ObjectProperty } from "oxc-parser";
import { type Binding, literalKey, propertyName } from "./binding.ts";
import { isLocalSpecifier } from "./local-path.ts";
import type { SourceGraph } from "./source-graph.ts";
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

/** The bindings that are being followed now; each is taken out when it has been followed. */
type Seen = Set<unknown>;

/** Where bindings lead, once it is known: many workflows may go by one chain of names. */
const known = new WeakMap<Binding, Target>();

export function resolve(graph: SourceGraph, place: Place, seen: Seen = new Set()): Target {
  graph.spend(1);
  const { module } = place;
  const node = unwrap(place.node);
  const at = { module, node };
  if (node.type === "Identifier") {
    const binding = module.references.get(node) ?? module.declarations.get(node);
    if (binding === undefined) return { kind: "global", name: node.name, keys: [], at };
    return followBinding(graph, module, binding, at, seen);
  }
  if (node.type === "MemberExpression") {
    const key = memberKey(graph, module, node, seen);
    if (key === undefined) {
      return { kind: "unknown", reason: "reads a member whose name is not static", at };
    }
    return memberOf(graph, resolve(graph, { module, node: node.object }, seen), key, at, seen);
  }
  return { kind: "node", module, node };
}

/** The key a member expression reads, when it is written out or a `const` with a literal. */
function memberKey(
  graph: SourceGraph,
  module: SourceModule,
  node: Node & { type: "MemberExpression" },
  seen: Seen,
): string | undefined {
  if (!node.computed) return propertyName(node.property);
  const key = resolve(graph, { module, node: node.property }, seen);
  return key.kind === "node" ? literalKey(key.node) : undefined;
}

function followBinding(
  graph: SourceGraph,
  module: SourceModule,
  binding: Binding,
  at: Place,
  seen: Seen,
): Target {
  switch (binding.kind) {
    case "import": {
      const origin = importOrigin(graph, module, binding.source, binding.imported, at);
      return followOrigin(graph, origin, at, seen);
    }
    case "variable": {
      const { init } = binding.node;
      if (binding.keyword !== "const") {
        return unknown(at, `is declared with ${binding.keyword}, so it may change`);
      }
      if (binding.assigned.length > 0) return unknown(at, "is changed after its declaration");
      if (init === null) return unknown(at, "has no fixed value");
      if (binding.keys === undefined) return unknown(at, "is taken apart with a default or a rest");
      if (seen.has(binding)) return unknown(at, "leads back to itself");
      const before = known.get(binding);
      if (before) return before;
      seen.add(binding);
      let target = resolve(graph, { module, node: init }, seen);
      for (const key of binding.keys) target = memberOf(graph, target, key, at, seen);
      seen.delete(binding);
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

/** What `name` of an imported file or package means; `*` is all of it. */
export function importOrigin(
  graph: SourceGraph,
  module: SourceModule,
  source: string,
  name: string,
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
    const binding = module.references.get(node) ?? module.declarations.get(node);
    return binding ? { kind: "binding", module, binding } : { kind: "node", module, node };
  }
  if (found?.kind === "from") {
    const at = { module, node: found.node };
    const next = isLocalSpecifier(found.source) && graph.importedBy(module, found.source);
    if (typeof next === "object" && found.name !== "*") {
      return exportOrigin(graph, next, found.name, seen);
    }
    return importOrigin(graph, module, found.source, found.name, at);
  }
  if (name === "default") return undefined;
  for (const star of stars) {
    const next = isLocalSpecifier(star) ? graph.importedBy(module, star) : undefined;
    const origin = typeof next === "object" ? exportOrigin(graph, next, name, seen) : undefined;
    if (origin) return origin;
  }
  // `export * from "@engine/sdk"`: of several packages nothing tells which one has the name.
  const [outside, ...more] = stars.filter((star) => !isLocalSpecifier(star));
  if (outside === undefined || more.length > 0) return undefined;
  return {
    kind: "package",
    source: outside,
    keys: [name],
    at: { module, node: module.parsed.program },
  };
}

export function followOrigin(
  graph: SourceGraph,
  origin: Origin,
  at: Place,
  seen: Seen = new Set(),
): Target {
  if (origin.kind !== "binding") {
    return origin.kind === "node" ? resolve(graph, origin, seen) : origin;
  }
  const { module, binding } = origin;
  if (binding.kind === "import") {
    if (seen.has(binding)) return unknown(at, "leads back to itself");
    seen.add(binding);
    const target = followBinding(graph, module, binding, at, seen);
    seen.delete(binding);
    return target;
  }
  return followBinding(graph, module, binding, at, seen);
}

/** `key` of what a target means. */
export function memberOf(
  graph: SourceGraph,
  target: Target,
  key: string,
  at: Place,
  seen: Seen = new Set(),
): Target {
  switch (target.kind) {
    case "package":
    case "global":
      return { ...target, keys: [...target.keys, key], at };
    case "module": {
      const origin = exportOrigin(graph, target.module, key);
      if (origin === undefined) return unknown(at, `is not exported by ${target.module.path}`);
      return followOrigin(graph, origin, at, seen);
    }
    case "node": {
      const { module, node } = target;
      if (node.type === "ObjectExpression") return property(graph, module, node, key, at, seen);
      const element = node.type === "ArrayExpression" && elementAt(node, key);
      if (element) return resolve(graph, { module, node: element }, seen);
      return unknown(at, "is no member of an object or array written out in the files sent");
    }
    case "unknown":
      return target;
  }
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

function property(
  graph: SourceGraph,
  module: SourceModule,
  object: ObjectExpression,
  key: string,
  at: Place,
  seen: Seen,
): Target {
  const members = membersByName(object);
  if (members) {
    const member = members.get(key);
    if (member === undefined) return unknown(at, ABSENT);
    if (member.kind !== "init") return unknown(at, "is a getter");
    return resolve(graph, { module, node: member.value }, seen);
  }
  for (const member of object.properties.toReversed()) {
    graph.spend(1);
    if (member.type === "SpreadElement") {
      const spread = resolve(graph, { module, node: member.argument }, seen);
      const found = memberOf(graph, spread, key, at, seen);
      if (found.kind === "unknown" && found.reason === ABSENT) continue;
      return found;
    }
    const name = member.computed
      ? computedKey(graph, { module, node: member.key }, seen)
      : propertyName(member.key);
    if (name === undefined) return unknown(at, "is a member of an object with computed names");
    if (name !== key) continue;
    if (member.kind !== "init") return unknown(at, "is a getter");
    return resolve(graph, { module, node: member.value }, seen);
  }
  return unknown(at, ABSENT);
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

function computedKey(graph: SourceGraph, place: Place, seen: Seen): string | undefined {
  const target = resolve(graph, place, seen);
  return target.kind === "node" ? literalKey(target.node) : undefined;
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

/** The name under which the SDK exports what is meant; undefined when it is not the SDK's. */
export function sdkExport(target: Target): string | undefined {
  if (target.kind !== "package" || target.source !== "@engine/sdk") return undefined;
  return target.keys.length === 1 ? target.keys[0] : undefined;
}
