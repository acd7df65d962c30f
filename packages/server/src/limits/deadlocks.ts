import {
  bucketView,
  type ExecutionRow,
  engineFailure,
  type Failure,
  failExecution,
  isQueued,
  type LimitDenial,
  type ResolvedLimit,
} from "@engine/contract";
import type { LimitHolder } from "@engine/store";
import type { Commits } from "../commits.ts";
import type { InnerPorts } from "../engine-ports.ts";

interface Parts {
  readonly ports: Pick<InnerPorts, "store" | "config" | "clock" | "log">;
  readonly commits: Pick<Commits, "change">;
}

/**
 * Finds executions that wait for places which only their own ancestors have, who wait for them: none of
 * those ever comes back (FLW-7). Only a place that is kept while its execution waits can be such a one.
 */
export class Deadlocks {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Looks at an execution that may have begun to wait. */
  look(row: ExecutionRow): void {
    if (row.parent_id === null || concurrencyLimits(row).length === 0 || !isQueued(row)) return;
    this.#fail(row).catch((error: unknown) => {
      const { execution_id } = row;
      this.#parts.ports.log.debug({ err: error, execution_id }, "could not look for a deadlock");
    });
  }

  /** The same for all that wait under limits that are full: a server may have gone before it looked. */
  lookAt(denials: Iterable<LimitDenial>): void {
    const { max_depth } = this.#parts.ports.config.executions;
    for (const denied of denials) {
      if (denied.reason !== "concurrency_limit" || denied.held > max_depth) continue;
      if (!isConcurrency(denied.limit)) continue;
      this.#lookBelow(denied.holders).catch((error: unknown) => {
        this.#parts.ports.log.debug({ err: error }, "could not look for deadlocks");
      });
    }
  }

  /** Looks at what the holders of a limit wait for. */
  async #lookBelow(execution_ids: readonly string[]): Promise<void> {
    const { executions } = this.#parts.ports.store;
    for (const id of execution_ids) {
      const holder = await executions.find(id);
      for (const wait of holder?.waits ?? []) {
        if (wait.kind !== "child" || wait.execution_id === undefined) continue;
        const child = await executions.find(wait.execution_id);
        if (child) this.look(child);
      }
    }
  }

  async #fail(waiting: ExecutionRow): Promise<void> {
    const { ports, commits } = this.#parts;
    const ancestors = await this.#waitingAncestors(waiting);
    for (const limit of concurrencyLimits(waiting)) {
      const page = { limit: ancestors.length, offset: 0 };
      const { items, total } = await ports.store.limits.holdersIn(limit.bucket, page);
      const failure = deadlock(waiting, limit, { ancestors, holders: items, total });
      if (!failure) continue;
      const terms = { now: ports.clock(), cancel_timeout_ms: 0 };
      await commits.change(waiting.execution_id, (row) =>
        isQueued(row) && row.generation === waiting.generation
          ? failExecution(row, failure, terms)
          : undefined,
      );
      return;
    }
  }

  /** Those above it, each of which waits for the one below. */
  async #waitingAncestors(waiting: ExecutionRow): Promise<readonly string[]> {
    const ancestors: string[] = [];
    let below = waiting;
    while (below.parent_id !== null) {
      const parent = await this.#parts.ports.store.executions.find(below.parent_id);
      const { execution_id } = below;
      if (!parent?.waits.some((wait) => wait.execution_id === execution_id)) break;
      ancestors.push(parent.execution_id);
      below = parent;
    }
    return ancestors;
  }
}

/** Whether all places of a limit are kept by ancestors of an execution that wait for it. */
function deadlock(
  waiting: Pick<ExecutionRow, "generation">,
  limit: ResolvedLimit,
  held: {
    readonly ancestors: readonly string[];
    /** As many as there are ancestors, at most. */
    readonly holders: readonly LimitHolder[];
    readonly total: number;
  },
): Failure | undefined {
  const { ancestors, holders, total } = held;
  // What has begun has kept its own place.
  if (limit.kind !== "concurrency" || (limit.hold_while_waiting && waiting.generation > 0)) {
    return undefined;
  }
  if (total < limit.count || total !== holders.length) return undefined;
  const above = new Set(ancestors);
  if (!holders.every((one) => one.until_end && above.has(one.execution_id))) return undefined;
  const ids = ancestors.filter((id) => holders.some(({ execution_id }) => execution_id === id));
  const { of, key } = bucketView(limit.bucket);
  const places = limit.count === 1 ? "the one place" : `all ${limit.count} places`;
  const message = `${places} of ${of} are held by executions that wait for this one: ${ids.join(", ")}; raise its concurrency, or call it from outside of what holds them`;
  return engineFailure("LimitDeadlockError", message, {
    details: { limit: limit.kind, key, holders: ids },
  });
}

function concurrencyLimits({ requirements }: ExecutionRow): readonly ResolvedLimit[] {
  return requirements?.limits?.filter(isConcurrency) ?? [];
}

function isConcurrency(limit: ResolvedLimit): boolean {
  return limit.kind === "concurrency";
}
