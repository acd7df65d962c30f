import { setTimeout as delay } from "node:timers/promises";
import type { EngineError } from "@engine/contract";
import { BEGIN, COMMIT, type Database, ROLLBACK } from "../database.ts";
import { StatementFailure, unavailable, unknownOutcome } from "../database-failure.ts";
import type { Segment } from "./event-texts.ts";

/** By what a commit is recognised whose answer never came. */
export interface CommitProbe {
  /** Executions that it held locked, in the order of ids: a lock on them is got when it has ended. */
  readonly locked: readonly string[];
  /**
   * Executions that it changes only while they are as they were, whenever it gets to the database:
   * once they are written by somebody else, it has ended or will do nothing.
   */
  readonly guarded?: readonly string[];
  /** A row of the log that only this commit can have written; a commit is all or nothing. */
  readonly segment: Segment | undefined;
}

const GIVE_UP_MS = 5_000;
const RETRY_MS = 100;

/**
 * Asks a database that has come back what became of a commit. (A transaction's number would not do:
 * a server that crashed gives the numbers of lost transactions to later ones.)
 *
 * @returns What to refuse its jobs with; undefined when it took place.
 */
export async function findRefusal(
  database: Database,
  probe: CommitProbe,
  lost: StatementFailure,
): Promise<EngineError | undefined> {
  const outcome = await findOutcome(database, probe);
  if (outcome === "kept") return undefined;
  return outcome === "undone" ? unavailable(lost) : unknownOutcome(lost);
}

async function findOutcome(
  database: Database,
  { locked, guarded = [], segment }: CommitProbe,
): Promise<"kept" | "undone" | "unknown"> {
  if (!segment) return "unknown";
  const { execution_id, seq, recorded_at, events } = segment;
  const lock = database.prepare(`
    SELECT execution_id FROM executions WHERE execution_id = ANY($1)
    ORDER BY execution_id FOR NO KEY UPDATE`);
  const fence = database.prepare("UPDATE executions SET head = head WHERE execution_id = ANY($1)");
  const find = database.prepare(`
    SELECT seq FROM segments
    WHERE execution_id = $1 AND seq = $2 AND recorded_at = $3 AND events = $4`);
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    try {
      const found = await database.generalLane(async (lane) => {
        await lane.pipelined([BEGIN], [lock, locked], [fence, guarded]);
        const [rows] = await lane.pipelined([find, execution_id, seq, recorded_at, events]);
        await lane.pipelined([guarded.length > 0 ? COMMIT : ROLLBACK]);
        return rows?.length === 1;
      });
      if (found) return "kept";
      return locked.length + guarded.length > 0 ? "undone" : "unknown";
    } catch (error) {
      const isOver = !(error instanceof StatementFailure) || performance.now() >= deadline;
      if (isOver) return "unknown";
      await delay(RETRY_MS);
    }
  }
}
