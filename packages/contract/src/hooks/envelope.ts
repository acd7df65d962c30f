/** What a target of a hook is started with (HOOK-19). */
import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";
import type { Json } from "../values/value.ts";

const common = {
  /** The last segment of the event's key. */
  type: z.string(),
  execution_id: z.string(),
  workflow_namespace: z.string(),
  workflow_name: z.string(),
  /** As plain JSON, or a marker that says why it is missing; whoever runs the workflow chooses it (HOOK-22). */
  value: AnyJson,
  /** ISO 8601. */
  occurred_at: z.string(),
};

/** The event as an envelope has it. */
export const EnvelopeEvent = z.discriminatedUnion("domain", [
  z.strictObject({
    domain: z.literal("execution"),
    ...common,
    task_name: z.null(),
    task_call_id: z.null(),
    /** Equals `type`. */
    state: z.string(),
  }),
  z.strictObject({
    domain: z.literal("task"),
    ...common,
    task_name: z.string(),
    task_call_id: z.string(),
    state: z.null(),
  }),
]);
export type EnvelopeEvent = z.infer<typeof EnvelopeEvent>;

/** The input of a hook's target: these keys and no others. */
export const HookEnvelope = z.strictObject({
  /** Name of the hook. */
  hook: z.string(),
  /** The selector that matched. */
  selector: z.string(),
  delivery_id: z.string(),
  /** `<execution_id>:<seq>`; targets are idempotent by it. */
  event_key: z.string(),
  /** Of the try that started the target, from 1. */
  attempt: z.int().min(1),
  /** How many hooks fired before this one in its chain, from 0. */
  hop: z.int().nonnegative(),
  event: EnvelopeEvent,
});
export type HookEnvelope = z.infer<typeof HookEnvelope>;

/** Why a value is not in an envelope (HOOK-20). */
export type Omitted =
  | {
      readonly reason: "too_large";
      /** Of the redacted JSON text. */
      readonly bytes: number;
      /** What it may have at most. */
      readonly limit: number;
      /** How the text begins. */
      readonly preview: string;
    }
  /** It lies in output storage, from where it is not fetched; `bytes` is missing where that does not say. */
  | { readonly reason: "stored_externally"; readonly bytes?: number }
  | {
      readonly reason:
        | "redaction_failed"
        | "not_encodable"
        /** The reader of a delivery may not read the workflow whose event it is (HOOK-3). */
        | "not_readable";
    };

/** What stands in an envelope in place of a value. */
export function omitted(why: Omitted): Json {
  return { $omitted: { ...why } };
}

/** An envelope from its stored text; undefined where that is none, so that its row is dead (HOOK-29). */
export function readEnvelope(text: string): HookEnvelope | undefined {
  try {
    return HookEnvelope.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The envelope for another try; nothing else of it ever changes (HOOK-21). */
export function withAttempt(envelope: HookEnvelope, attempt: number): HookEnvelope {
  return { ...envelope, attempt };
}

/** The envelope for a reader who may not read the workflow whose event it is. */
export function withoutEventValue(envelope: HookEnvelope): HookEnvelope {
  return { ...envelope, event: { ...envelope.event, value: omitted({ reason: "not_readable" }) } };
}
