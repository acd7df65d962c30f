import { EngineError, isName, NAME_RULE, nearest, store } from "@engine/contract";
import { branches } from "./replay/calls/branches.ts";
import { inCurrentScope } from "./replay/calls/scope.ts";

/** One step of a graph. */
export interface GraphNode {
  /** Nodes whose outputs it needs. None: it gets the input of the graph. */
  readonly after?: readonly string[];
  /** Whether to run it, asked once everything before it has ended; false skips the node. */
  // biome-ignore lint/suspicious/noExplicitAny: the outputs of the nodes before it, by name
  readonly when?: (upstream: any) => boolean | Promise<boolean>;
  /**
   * A task or a function. Gets the graph's input, the output of its only node before it, or an
   * object of outputs by node name, without the skipped ones.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as described
  readonly run: (input: any) => unknown;
}

type Outputs<Nodes extends Record<string, GraphNode>> = {
  -readonly [Name in keyof Nodes]?: Awaited<ReturnType<Nodes[Name]["run"]>>;
};

/**
 * Steps that depend on each other: every node runs at most once, as soon as all before it have
 * ended, concurrently with others that are ready. A node whose nodes before it were all skipped is
 * skipped too. The result has the outputs by node name, skipped ones are absent (EXE-9). It fails as
 * {@link parallel} does.
 *
 * @throws EngineError `invalid_definition` for an empty graph, an unknown node in `after`, a cycle.
 * @example
 * ```ts
 * const etl = graph("etl", {
 *   extract: { run: extract },
 *   clean: { after: ["extract"], run: clean },
 *   load: { after: ["clean"], when: ({ clean }) => clean.rows > 0, run: load },
 * });
 * const { load } = await etl(source);
 * ```
 */
export function graph<const Nodes extends Record<string, GraphNode>, Input = unknown>(
  name: string,
  nodes: Nodes,
): (input?: Input) => Promise<Outputs<Nodes>> {
  refuseInvalid(name, nodes);
  const names = Object.keys(nodes);
  return (input) =>
    inCurrentScope(`graph "${name}"`, (scope) =>
      scope.runtime.combinator(scope, {
        kind: "graph",
        label: name,
        started: store({ name, nodes: names, input }, "input").text,
        run: async (inside) => {
          const run = new GraphRun(nodes, input);
          const functions = names.map((node) => () => run.node(node));
          await branches(inside, functions);
          // In the order of the nodes, whichever ended first.
          const ran = names.filter((node) => Object.hasOwn(run.outputs, node));
          return Object.fromEntries(ran.map((node) => [node, run.outputs[node]]));
        },
      }),
    );
}

/** One run of a graph: the nodes that have ended so far, and those that wait for them. */
class GraphRun {
  readonly outputs: Record<string, unknown> = {};
  readonly #nodes: Readonly<Record<string, GraphNode>>;
  readonly #input: unknown;
  readonly #ended: Map<string, PromiseWithResolvers<boolean>> = new Map();

  constructor(nodes: Readonly<Record<string, GraphNode>>, input: unknown) {
    this.#nodes = nodes;
    this.#input = input;
    for (const name of Object.keys(nodes)) {
      const ended = Promise.withResolvers<boolean>();
      // Nodes behind one that failed never begin; the graph itself tells why.
      ended.promise.catch(() => {});
      this.#ended.set(name, ended);
    }
  }

  /** Runs a node once all before it have ended. */
  async node(name: string): Promise<void> {
    const ended = this.#ended.get(name);
    const node = this.#nodes[name];
    if (!node || !ended) return;
    const { after = [], when, run } = node;
    const before = await Promise.all(after.map(async (up) => this.#ended.get(up)?.promise));
    const hasRun = after.filter((_, i) => before[i]);
    const upstream = Object.fromEntries(hasRun.map((up) => [up, this.outputs[up]]));
    const isCutOff = after.length > 0 && hasRun.length === 0;
    if (isCutOff || (when && !(await when(upstream)))) {
      ended.resolve(false);
      return;
    }
    const [only] = after;
    const isSingle = after.length === 1 && only !== undefined;
    const input = after.length === 0 ? this.#input : isSingle ? upstream[only] : upstream;
    this.outputs[name] = await run(input);
    ended.resolve(true);
  }
}

function refuseInvalid(name: string, nodes: Readonly<Record<string, GraphNode>>): void {
  const refuse = (why: string) =>
    new EngineError("invalid_definition", `graph ${JSON.stringify(name)} ${why}`);
  if (typeof name !== "string" || !isName(name)) throw refuse(`needs a name: ${NAME_RULE}`);
  const names = Object.keys(nodes);
  if (names.length === 0) throw refuse("has no nodes; give at least one: { node: { run } }");
  for (const [node, { after = [], run, when }] of Object.entries(nodes)) {
    if (!isName(node))
      throw refuse(`has a node ${JSON.stringify(node)}; a node is named by ${NAME_RULE}`);
    if (typeof run !== "function") throw refuse(`has no function "run" in node ${node}`);
    if (when !== undefined && typeof when !== "function") {
      throw refuse(`has a "when" in node ${node} that is no function`);
    }
    for (const up of after) {
      if (Object.hasOwn(nodes, up)) continue;
      const near = nearest(up, names);
      const hint = near === undefined ? `known are ${names.join(", ")}` : `did you mean ${near}?`;
      throw refuse(`has node ${node} after an unknown node ${up}; ${hint}`);
    }
  }
  const cycle = findCycle(nodes);
  if (cycle) throw refuse(`goes in a circle: ${cycle.join(" -> ")}`);
}

function findCycle(nodes: Readonly<Record<string, GraphNode>>): string[] | undefined {
  const done = new Set<string>();
  const above = (names: readonly string[], path: readonly string[]): string[] | undefined => {
    for (const name of names) {
      if (done.has(name)) continue;
      const at = path.indexOf(name);
      if (at >= 0) return [...path.slice(at), name];
      const cycle = above(nodes[name]?.after ?? [], [...path, name]);
      if (cycle) return cycle;
      done.add(name);
    }
    return undefined;
  };
  return above(Object.keys(nodes), []);
}
