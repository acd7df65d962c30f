import { type ExecutionRow, isTerminal, type ResolvedLimit } from "@engine/contract";
import type { LimitDefinition } from "../../limits/claim-limits.ts";

/** Limits in the plainest way: of every claim it is known for ever what it was under. */
export class ModelLimits {
  readonly #definitions = new Map<string, LimitDefinition>();
  readonly #claims: { readonly row: ExecutionRow; readonly limits: readonly ResolvedLimit[] }[] =
    [];
  readonly #rowOf: (execution_id: string) => ExecutionRow | undefined;

  constructor(rowOf: (execution_id: string) => ExecutionRow | undefined) {
    this.#rowOf = rowOf;
  }

  set(name: string, definition: LimitDefinition | null): void {
    if (definition) this.#definitions.set(name, definition);
    else this.#definitions.delete(name);
  }

  keep(row: ExecutionRow): void {
    const { limits } = row.requirements ?? {};
    if (limits) this.#claims.push({ row, limits });
  }

  /** Why a claim that leaves an execution like this has to wait. */
  limited(row: ExecutionRow): string | undefined {
    const limits = row.requirements?.limits ?? [];
    if (row.state === "CANCELLING") return undefined;
    const keptBy = (bucket: string) => this.holders(bucket).get(row.execution_id) === "to the end";
    if (this.isFull(limits.filter(({ bucket }) => !keptBy(bucket)))) return "concurrency_limit";
    if (row.generation === 1 && limits.some((limit) => this.#isTooSoon(limit))) return "rate_limit";
    const isUndefined = limits.some(
      (limit) => limit.kind === "limit" && !this.#definitions.has(limit.name),
    );
    return isUndefined ? "limit_undefined" : undefined;
  }

  isFull(limits: readonly ResolvedLimit[]): boolean {
    return limits.some((limit) => {
      const places = this.#placesOf(limit);
      return places !== undefined && this.holders(limit.bucket).size >= places;
    });
  }

  holders(bucket: string): ReadonlyMap<string, "now" | "to the end"> {
    const holders = new Map<string, "now" | "to the end">();
    for (const { row, limits } of this.#claims) {
      const now = this.#rowOf(row.execution_id);
      for (const limit of limits) {
        if (!now || limit.bucket !== bucket || limit.kind === "rate") continue;
        const isKept = limit.kind === "concurrency" && limit.hold_while_waiting;
        if (isKept && !isTerminal(now.state)) holders.set(row.execution_id, "to the end");
        else if (now.session !== null && now.generation === row.generation) {
          if (!holders.has(row.execution_id)) holders.set(row.execution_id, "now");
        }
      }
    }
    return holders;
  }

  #placesOf(limit: ResolvedLimit): number | undefined {
    if (limit.kind === "concurrency") return limit.count;
    if (limit.kind === "rate") return undefined;
    return this.#definitions.get(limit.name)?.concurrency ?? undefined;
  }

  /** Everything that a test does is within one period. */
  #isTooSoon(limit: ResolvedLimit): boolean {
    if (limit.kind !== "rate") return false;
    const starts = this.#claims.filter(
      ({ row, limits }) =>
        row.generation === 1 &&
        limits.some((one) => one.kind === "rate" && one.bucket === limit.bucket),
    );
    return starts.length >= limit.count;
  }
}
