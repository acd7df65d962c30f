import {
  type Checkpoint,
  decideCheckpoint,
  EngineError,
  type Event,
  type NewEvent,
} from "@engine/contract";
import type { CheckpointReply, Delta, ExecutionPort } from "@engine/sdk/node";
import type { Store } from "@engine/store";

/** The claim under which a local run writes. */
export interface LocalClaim {
  readonly execution_id: string;
  readonly generation: number;
  /** Id of this process among all that ever wrote to the database. */
  readonly session: string;
}

export interface LocalPort extends ExecutionPort {
  /** Why the copy was stopped, once a checkpoint was not accepted for good. */
  readonly refusal: unknown;
}

/** Writes what an execution does straight into the store: the server's checkpoint without a wire. */
export function checkpointPort(store: Store, claim: LocalClaim, clock: () => number): LocalPort {
  let refusal: unknown;
  return {
    get refusal() {
      return refusal;
    },
    // Nobody can watch a local run from outside, so the core never calls this.
    progress() {},
    async checkpoint(delta) {
      try {
        return await write(store, claim, delta, clock());
      } catch (error) {
        const reply = replyTo(error);
        if (reply?.kind === "conflict") return reply;
        refusal = error;
        if (reply) return reply;
        throw error;
      }
    },
  };
}

async function write(
  store: Store,
  { execution_id, generation, session }: LocalClaim,
  delta: Delta,
  now: number,
): Promise<CheckpointReply> {
  const { base_seq, state, waiting } = delta;
  const events = JSON.parse(delta.events) as NewEvent[];
  const item: Checkpoint = {
    generation,
    base_seq,
    state,
    events,
    ...(waiting && { waiting: [...waiting] }),
  };
  await store.changeExecution(
    execution_id,
    (row, recorded) => {
      const verdict = decideCheckpoint(row, item, { session, now }, recorded);
      if (verdict.kind === "refuse") throw verdict.error;
      return verdict.kind === "append" ? verdict : undefined;
    },
    { above: base_seq },
  );
  return { kind: "accepted", seq: base_seq + events.length };
}

function replyTo(error: unknown): CheckpointReply | undefined {
  if (!(error instanceof EngineError)) return undefined;
  if (error.code === "stale_claim") return { kind: "stale" };
  if (error.code !== "seq_conflict") return undefined;
  const { acknowledged, events } = error.details as { acknowledged: number; events: Event[] };
  return { kind: "conflict", acknowledged, events };
}
