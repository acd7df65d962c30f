import * as z from "zod";
import { ErrorBody } from "../errors/errors.ts";
import { State, Wait } from "../executions/execution.ts";
import { SentEvent } from "../log/event.ts";
import { AnyJson } from "../values/any-json.ts";

/**
 * A delta of one execution's log (CKP-1): the i-th event, from 1, becomes `base_seq + i`. `state` is the one
 * after the last event. RUNNING with `waiting` parks it. Of `waiting` only retry delays are news: the
 * other waits follow from the events.
 */
export const Checkpoint = z.strictObject({
  generation: z.int().positive(),
  base_seq: z.int().nonnegative(),
  state: State,
  events: z.array(SentEvent),
  waiting: z.array(Wait).optional(),
  /** By `task_call_id`, of `call`s that begin among these events; no log holds them (RIN-3). */
  routing_inputs: z.record(z.string(), AnyJson).optional(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** One of a batch: each is decided for itself (CKP-5). */
export const CheckpointItem = Checkpoint.extend({ execution_id: z.string() });
export type CheckpointItem = z.infer<typeof CheckpointItem>;

/** What the log holds now: the stored state, never an echo (CKP-4). */
export const CheckpointAccepted = z.object({
  execution_id: z.string(),
  seq: z.int(),
  state: State,
  generation: z.int(),
});
export type CheckpointAccepted = z.infer<typeof CheckpointAccepted>;

/** Why one of a batch was not taken; the others are not concerned. */
export const ItemRefused = z.object({
  execution_id: z.string(),
  error: ErrorBody.shape.error,
});
export type ItemRefused = z.infer<typeof ItemRefused>;

/** The answer to one of a batch; answers come in the order of the items. */
export const CheckpointAnswer = z.union([CheckpointAccepted, ItemRefused]);
export type CheckpointAnswer = z.infer<typeof CheckpointAnswer>;
