import type { MemberExpression, Node } from "oxc-parser";
import { walk } from "oxc-walker";
import { type Binding, literalKey, propertyName } from "../modules/binding.ts";
import { isFunction } from "../modules/functions.ts";
import {
  calledOfSdk,
  exportOrigin,
  importOrigin,
  memberOf,
  type Origin,
  resolve,
  unwrap,
} from "../modules/resolve.ts";
import { contains, type SourceGraph, sentModule } from "../modules/source-graph.ts";
import type { Finding } from "../modules/source-issues.ts";
import type { CallPlace, Place, SourceModule } from "../modules/source-module.ts";
import { definedBy } from "./definition.ts";
import { nondeterministicCall } from "./nondeterminism.ts";
import { sharedWrites } from "./shared-state.ts";

/** A call of `with(…)`. */
export type Copy = CallPlace & {
  /** What it is a copy of: the `task(…)`, then, for a copy of a copy, each `with(…)` before it. */
  readonly originals: readonly CallPlace[];
};

export interface Reached {
  /** Every `task(…)` the body may call or pass on, in source order. */
  tasks: CallPlace[];
  /** Every `x.with(…)` of one of them. */
  copies: Copy[];
  /** Every `call(…)` of another workflow, in source order. */
  calls: CallPlace[];
  /** Calls of the body itself that a replay may answer differently, and writes to what executions share. */
  warnings: Finding[];
}

/**
 * Everything a workflow body may get to: its own text, then whatever the names in it stand for, and
 * so on. Other workflows are not entered: they run as executions of their own. Tasks are entered
 * last, since a task may call tasks, but its code need not be deterministic.
 */
export function reachFrom(graph: SourceGraph, body: Place): Reached {
  const tasks: CallPlace[] = [];
  const copies: Copy[] = [];
  const calls: CallPlace[] = [];
  const warnings: Finding[] = [];
  const known = new Set<Node>();
  const visited = new Set<Node>();
  let queue: Place[] = [body];
  for (let place = queue.pop(); place; place = queue.pop()) visit(place, true);
  queue = tasks.flatMap(argumentsOf);
  for (let place = queue.pop(); place; place = queue.pop()) visit(place, false);
  return { tasks: tasks.toSorted(bySource), copies, calls: calls.toSorted(bySource), warnings };

  function bySource(a: CallPlace, b: CallPlace): number {
    const [first = 0, second = 0] = [graph.order.get(a.module), graph.order.get(b.module)];
    return first - second || a.node.start - b.node.start;
  }

  function visit(root: Place, isBody: boolean): void {
    if (visited.has(root.node)) return;
    visited.add(root.node);
    const { module } = root;
    const settled = new Set<Node>();
    let functions = root === body ? 1 : 0;
    walk(root.node, {
      enter(node) {
        graph.spend(1);
        if (TYPES.has(node.type)) return this.skip();
        if (isFunction(node)) functions++;
        if (node.type === "CallExpression") {
          const called = calledOfSdk(graph, { module, node });
          if (called === "task") addTask({ module, node }, isBody);
          if (called === "task" || called === "workflow") return this.skip();
          if (called === "call") calls.push({ module, node });
          const originals = originalsOf(graph, { module, node });
          if (originals) copies.push({ module, node, originals });
        }
        if (isBody && functions > 0 && !settled.has(node)) {
          const warning = nondeterministicCall(graph, module, node);
          if (warning) {
            warnings.push(warning);
            settle(node.type === "CallExpression" ? node.callee : node, settled);
          }
        }
        if (functions > 0 || !isBody) warnings.push(...sharedWrites(module, node));
        if (node.type === "ImportExpression") enqueueImport(module, node.source);
        if (node.type === "MemberExpression" && !settled.has(node)) {
          if (enqueueMember(root, node)) settle(node, settled);
        }
        const binding = settled.has(node) ? undefined : module.references.get(node);
        if (binding) enqueueBinding(root, module, binding, node);
        return undefined;
      },
      leave(node) {
        if (isFunction(node)) functions--;
      },
    });
  }

  function addTask(place: CallPlace, isBody: boolean): void {
    if (known.has(place.node)) return;
    known.add(place.node);
    tasks.push(place);
    if (!isBody) queue.push(...argumentsOf(place));
  }

  function enqueueBinding(root: Place, module: SourceModule, binding: Binding, at: Node): void {
    graph.spend(1);
    if (binding.kind === "import") {
      enqueueOrigin(root, importOrigin(graph, module, binding, { module, node: at }));
      return;
    }
    if (binding.kind === "parameter") return;
    for (const node of [binding.node, ...binding.assigned]) {
      const place = { module, node };
      if (!contains(root, place)) queue.push(place);
    }
  }

  function enqueueOrigin(root: Place, origin: Origin): void {
    if (origin.kind === "binding") {
      enqueueBinding(root, origin.module, origin.binding, origin.binding.node);
    }
    if (origin.kind === "node") queue.push(origin);
    if (origin.kind === "module") enqueueModule(origin.module);
  }

  function enqueueModule(module: SourceModule): void {
    const { named, stars } = graph.exportsOf(module);
    if (visited.has(module.parsed.program)) return;
    visited.add(module.parsed.program);
    const root = { module, node: NOWHERE };
    for (const name of named.keys()) {
      const origin = exportOrigin(graph, module, name);
      if (origin) enqueueOrigin(root, origin);
    }
    for (const star of stars) {
      const next = sentModule(graph, module, star);
      if (next) enqueueModule(next);
    }
  }

  function enqueueImport(module: SourceModule, source: Node): void {
    const imported = sentModule(graph, module, literalKey(source) ?? "");
    if (imported) enqueueModule(imported);
  }

  /** `steps.charge` reaches one member, not all of `steps`, when it can be told which. */
  function enqueueMember(root: Place, node: MemberExpression): boolean {
    const { module } = root;
    const key = node.computed ? literalKey(node.property) : propertyName(node.property);
    if (key === undefined) return false;
    const object = resolve(graph, { module, node: node.object });
    if (object.kind === "module") {
      const origin = exportOrigin(graph, object.module, key);
      if (origin) enqueueOrigin(root, origin);
      return origin !== undefined;
    }
    if (object.kind !== "node" || object.node.type !== "ObjectExpression") return false;
    const member = memberOf(graph, object, key, { module, node });
    if (member.kind !== "node") return false;
    queue.push(member);
    // A method may reach its siblings through `this`.
    if (member.node.type === "FunctionExpression") queue.push(object);
    return true;
  }
}

/** A type may name a task without reaching it: `typeof charge`. */
const TYPES: ReadonlySet<string> = new Set([
  "TSTypeAnnotation",
  "TSTypeParameterInstantiation",
  "TSTypeParameterDeclaration",
  "TSTypeAliasDeclaration",
  "TSInterfaceDeclaration",
]);

/** A root that contains nothing. */
const NOWHERE = { type: "EmptyStatement", start: -1, end: -1 } as Node;

function argumentsOf({ module, node }: CallPlace): Place[] {
  return node.arguments.map((argument) => ({ module, node: argument }));
}

/** Marks a chain such as `process.env.HOME` as dealt with, down to its first name. */
function settle(node: Node, settled: Set<Node>): void {
  settled.add(node);
  if (node.type === "MemberExpression") settle(unwrap(node.object), settled);
}

/** What a call of `task.with(…)` copies; undefined for any other call. */
function originalsOf(graph: SourceGraph, { module, node }: CallPlace): CallPlace[] | undefined {
  const { callee } = node;
  if (callee.type !== "MemberExpression" || callee.computed) return undefined;
  if (callee.property.type !== "Identifier" || callee.property.name !== "with") return undefined;
  const target = resolve(graph, { module, node: callee.object });
  if (target.kind !== "node" || target.node.type !== "CallExpression") return undefined;
  graph.spend(1);
  const original: CallPlace = { module: target.module, node: target.node };
  if (definedBy(graph, original) === "task") return [original];
  const earlier = originalsOf(graph, original);
  return earlier && [...earlier, original];
}
