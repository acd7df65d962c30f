import {
  type CallResolutions,
  type Change,
  type Checkpoint,
  type Claimant,
  decideCheckpoint,
  decideClaim,
  type Effect,
  EngineError,
  type HookLineage,
  type NewEvent,
  type SentEvent,
} from "@engine/contract";
import {
  type CheckpointReply,
  type Delta,
  type ExecutionPort,
  refusedReply,
} from "@engine/sdk/node";
import { type Changed, type Decide, ExecutionSeals } from "@engine/store";
import { resolveCalls } from "./call-targets.ts";
import { type LocalWorld, localClaimant } from "./local-parts.ts";

/** The claim under which a local run writes. */
export interface LocalClaim {
  readonly execution_id: string;
  readonly depth: number;
  readonly hook: HookLineage | null;
  /** Grows when the same copy goes on under a new claim. */
  readonly generation: number;
  /** Set to why the store refused a checkpoint for good. */
  refusal: unknown;
}

export interface ChangeOptions {
  readonly above?: number;
  /** `seq` up to which the execution's copy knows its log once the change is made. */
  readonly told?: number;
}

/** Changes an execution, and tells the executions of this process that the change touches. */
export type ChangeExecution = (
  execution_id: string,
  decide: Decide,
  options?: ChangeOptions,
) => Promise<Changed>;

/** Writes what an execution does straight into the store: the server's checkpoint without a wire. */
export function checkpointPort(
  claim: LocalClaim,
  world: LocalWorld,
  change: ChangeExecution,
): ExecutionPort {
  const { store, values, settings, clock, seals } = world;
  const localServices = { offered: world.services, granted: Object.keys(world.services) };
  return {
    services: {
      lookUp: (key) => store.cache.find(key, clock()),
      keep: (key, text, ttl_ms) => store.cache.keep(key, text, clock() + ttl_ms),
      async saveValue(text, hidden) {
        const { execution_id } = claim;
        return values.save(execution_id, hidden ? await seals.sealText(execution_id, text) : text);
      },
      loadValue: async ({ reference_id }) =>
        seals.openText(claim.execution_id, await values.load(reference_id)),
      secrets: (task, names) => settings.secrets(task, names),
      configs: (task, names) => settings.configs(task, names),
    },
    localServices: () => localServices,
    // Nobody can watch a local run from outside, so the core never calls this.
    progress() {},
    async checkpoint(delta) {
      try {
        return await write(claim, delta, world, change);
      } catch (error) {
        const reply = error instanceof EngineError ? refusedReply(error) : undefined;
        if (reply?.kind === "conflict") return reply;
        claim.refusal = error;
        if (reply) return reply;
        throw error;
      }
    },
  };
}

async function write(
  { execution_id, depth, hook, generation }: LocalClaim,
  delta: Delta,
  world: LocalWorld,
  change: ChangeExecution,
): Promise<CheckpointReply> {
  const { base_seq, state, waiting } = delta;
  const sent = JSON.parse(delta.events) as SentEvent[];
  const isHiding = ExecutionSeals.hides(sent);
  const events: NewEvent[] = isHiding ? await world.seals.hidden(execution_id, sent) : sent;
  const item: Checkpoint = {
    generation,
    base_seq,
    state,
    events,
    ...(waiting && { waiting: [...waiting] }),
  };
  const claimant = localClaimant(world);
  const { session, now } = claimant;
  const calls = resolveCalls({ execution_id, depth, hook }, events, world);
  const sender = { session, now, calls, cancel_timeout_ms: world.limits.cancel_timeout * 1000 };
  const seq = base_seq + events.length;
  await change(
    execution_id,
    (row, recorded, findKept) => {
      const verdict = decideCheckpoint(row, item, { ...sender, findKept }, recorded);
      if (verdict.kind === "refuse") throw verdict.error;
      if (verdict.kind === "repeat") return undefined;
      return withClaims(verdict, calls, claimant);
    },
    { above: base_seq, told: seq },
  );
  return { kind: "accepted", seq };
}

/** Children are this process's from the moment they exist. */
function withClaims(change: Change, calls: CallResolutions, claimant: Claimant): Change {
  if (calls.size === 0) return change;
  const claims: Effect[] = [];
  for (const resolution of calls.values()) {
    if (resolution.kind !== "child") continue;
    claims.push({
      kind: "change",
      execution_id: resolution.fresh.execution_id,
      decide: (child) => child && decideClaim(child, claimant),
    });
  }
  return { ...change, effects: [...(change.effects ?? []), ...claims] };
}
