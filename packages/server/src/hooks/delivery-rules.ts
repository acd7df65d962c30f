/** What becomes of a try of a delivery, decided from what was read (HOOK-29, HOOK-31). Pure. */
import {
  type DeadReason,
  type DeliveryGuard,
  EngineError,
  type HookEnvelope,
  readEnvelope,
  withAttempt,
} from "@engine/contract";
import type { DueDelivery, HookRow, Undelivered } from "@engine/store";

/** A delivery whose target may be asked for. */
export interface Try {
  readonly guard: DeliveryGuard;
  /** Of this try, from 1. */
  readonly attempt: number;
  readonly hook: HookRow;
  readonly envelope: HookEnvelope;
}

export type Judged =
  | { readonly kind: "try"; readonly try: Try }
  | { readonly kind: "dead"; readonly guard: DeliveryGuard; readonly undelivered: Undelivered }
  /** Its hook is gone: so is it. */
  | { readonly kind: "orphan" };

/** What holds a delivery back before anybody is asked: checks 1 to 4 of HOOK-29. */
export function judgeDelivery(
  delivery: DueDelivery,
  { hop_limit }: { readonly hop_limit: number },
): Judged {
  const { hook_row: hook, attempts, hop } = delivery;
  if (!hook) return { kind: "orphan" };
  const guard = guardOf(delivery, hook);
  const dead = (dead_reason: DeadReason, error: string): Judged => ({
    kind: "dead",
    guard,
    undelivered: { attempts, error, dead_reason, next_attempt_at: null },
  });
  const envelope = readEnvelope(delivery.envelope);
  if (!envelope) return dead("malformed", "its stored envelope is none");
  if (!hook.enabled) return dead("hook_disabled", `hook ${hook.name} was disabled before its turn`);
  if (hop >= hop_limit) return dead("hop_limit", loopText(delivery, hop_limit));
  const attempt = attempts + 1;
  const of = { guard, attempt, hook, envelope: withAttempt(envelope, attempt) };
  return { kind: "try", try: of };
}

function guardOf({ id, attempts, hook_id }: DueDelivery, { revision }: HookRow): DeliveryGuard {
  return { delivery_id: id, attempts, hook_id, revision };
}

function loopText({ hop, hook }: DueDelivery, limit: number): string {
  return (
    `loop: hook ${hook} would fire at hop ${hop}, and hop_limit ${limit} lets hops 0 to ${limit - 1} fire; ` +
    "its target, or what that starts, causes the events that it waits for"
  );
}

/** Errors of a start that no further try would change, with what they are called (HOOK-29). */
const FATAL: ReadonlyMap<string, DeadReason> = new Map([
  ["principal_not_found", "principal_not_found"],
  ["principal_not_service_account", "principal_not_service_account"],
  ["principal_banned", "principal_banned"],
  ["principal_disabled", "principal_disabled"],
  ["principal_not_permitted", "principal_not_permitted"],
  ["target_not_found", "target_not_found"],
  ["invalid_input", "input_rejected"],
]);

/** Pauses between tries (HOOK-31), seconds. */
interface Backoff {
  readonly backoff_base: number;
  readonly backoff_max: number;
}

/** What is written down of a try that failed. */
export function afterFailure(
  { attempt, hook }: Pick<Try, "attempt" | "hook">,
  error: unknown,
  { backoff_base, backoff_max, now }: Backoff & { readonly now: number },
): Undelivered {
  const text = failureText(error);
  const fatal = error instanceof EngineError ? FATAL.get(error.code) : undefined;
  if (fatal) {
    return { attempts: attempt, error: text, dead_reason: fatal, next_attempt_at: null };
  }
  if (attempt >= hook.max_attempts) {
    const said = `${attempt} of ${hook.max_attempts} tries failed; the last: ${text}`;
    return {
      attempts: attempt,
      error: said,
      dead_reason: "attempts_exhausted",
      next_attempt_at: null,
    };
  }
  const seconds = Math.min(backoff_base * 2 ** (attempt - 1), backoff_max);
  const next_attempt_at = now + Math.round(seconds * 1000);
  return { attempts: attempt, error: text, dead_reason: null, next_attempt_at };
}

/** Words of the engine's own errors; of any other, which may hold SQL or a path, only that it was one. */
function failureText(error: unknown): string {
  if (!(error instanceof EngineError)) return "the engine could not start it; its log says why";
  return `${error.code}: ${error.message}`;
}
