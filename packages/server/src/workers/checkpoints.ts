import {
  type Checkpoint,
  type CheckpointAnswer,
  type CheckpointItem,
  type CheckpointVerdict,
  decideCheckpoint,
  EngineError,
} from "@engine/contract";
import type { Commits } from "../commits.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Session } from "./session.ts";

/** What a store answers when a commit failed: true of the whole request, not of one item. */
function isUnavailable(error: unknown): boolean {
  return !(error instanceof EngineError) || error.code === "unavailable";
}

/** Takes what workers add to logs (CKP-1 to CKP-5). */
export class Checkpoints {
  readonly #ports: Pick<EnginePorts, "clock" | "log">;
  readonly #commits: Commits;

  constructor(parts: { ports: Pick<EnginePorts, "clock" | "log">; commits: Commits }) {
    this.#ports = parts.ports;
    this.#commits = parts.commits;
  }

  /** Answers in the order of the items, after the commit; a refused item touches no other. */
  async accept(
    session: Session,
    items: readonly CheckpointItem[],
  ): Promise<readonly CheckpointAnswer[]> {
    refuseTwice(items);
    try {
      return await Promise.all(items.map((item) => this.#acceptOrRefuse(session, item)));
    } catch (error) {
      if (error instanceof EngineError) throw error;
      this.#ports.log.error({ err: error, worker: session.worker }, "a checkpoint broke");
      throw new EngineError("unavailable", "the checkpoint could not be committed; send it again", {
        cause: error,
      });
    }
  }

  async #acceptOrRefuse(session: Session, item: CheckpointItem): Promise<CheckpointAnswer> {
    try {
      return await this.acceptOne(session, item.execution_id, item);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const { execution_id } = item;
      return { execution_id, error: (error as EngineError).toBody().error };
    }
  }

  /** Throws what an item of a batch answers as its error. */
  async acceptOne(
    session: Session,
    execution_id: string,
    item: Checkpoint,
  ): Promise<Exclude<CheckpointAnswer, { error: unknown }>> {
    let verdict: CheckpointVerdict | undefined;
    const sender = { session: session.id, now: this.#ports.clock() };
    const { changed } = await this.#commits.change(
      execution_id,
      (row, recorded) => {
        verdict = decideCheckpoint(row, item, sender, recorded);
        if (verdict.kind === "refuse") throw verdict.error;
        return verdict.kind === "append" ? verdict : undefined;
      },
      { above: item.base_seq },
    );
    const { row } = changed;
    const seq = verdict?.kind === "repeat" ? verdict.seq : row.head;
    return { execution_id, seq, state: row.state, generation: row.generation };
  }
}

/** Two deltas of one execution in a request would have no order (CKP-5). */
function refuseTwice(items: readonly CheckpointItem[]): void {
  if (new Set(items.map(({ execution_id }) => execution_id)).size === items.length) return;
  const message = "each execution may appear once";
  throw new EngineError("invalid_input", message, {
    details: { issues: [{ path: "body.items", message }] },
  });
}
