import type { ExecutionSummary } from "@engine/contract";

/** Which executions belong together: those that were started, and what came of them by `call`. */
export class Families {
  readonly #children: ReadonlyMap<string | null, readonly ExecutionSummary[]>;
  readonly #byId: ReadonlyMap<string, ExecutionSummary>;

  constructor(all: readonly ExecutionSummary[]) {
    this.#children = Map.groupBy(all, ({ parent_id }) => parent_id);
    this.#byId = new Map(all.map((one) => [one.execution_id, one]));
  }

  /** Parents before their children. */
  of(roots: readonly string[]): readonly ExecutionSummary[] {
    return roots.flatMap((id) => {
      const one = this.#byId.get(id);
      const children = this.#children.get(id) ?? [];
      return [...(one ? [one] : []), ...this.of(children.map((child) => child.execution_id))];
    });
  }
}
