import { type Duration, EngineError, type ExecutionRecord, parseDuration } from "@engine/contract";
import { oneAnswer } from "./one-answer.ts";
import { backOffMs, sleep, type Timing } from "./timing.ts";
import { type ExecutionReference, ResultTimeoutError } from "./workflow-errors.ts";

export interface RestOptions {
  /** Stops waiting, not the execution. */
  readonly signal?: AbortSignal | undefined;
  /** Stops waiting after that long; without it there is no end to it. */
  readonly timeout?: Duration | undefined;
}

/** Asks once; the server may take `seconds` before it says that nothing has changed. */
export type Ask = (seconds: number, signal: AbortSignal) => Promise<ExecutionRecord>;

/** Short enough for what stands between and cuts connections that are silent for a minute. */
const ASK_MS = 30_000;
/** How much later than promised an answer may come before its connection counts as lost. */
const GRACE_MS = 10_000;
/** An answer that came faster was not waited for: a server that shuts down answers all at once. */
const WAITED_MS = 1_000;

/**
 * Asks until the execution has come to rest: a question that gets no answer, for any reason, is asked
 * again, later each time. A refusal is thrown.
 */
export async function awaitRest<Resting extends ExecutionRecord>(
  execution: ExecutionReference,
  ask: Ask,
  rests: (record: ExecutionRecord) => record is Resting,
  options: RestOptions & { readonly timing: Timing },
): Promise<Resting> {
  const { signal, timing } = options;
  const timeoutMs = timeoutOf(options.timeout);
  const deadline = timing.now() + timeoutMs;
  let lost: EngineError | undefined;
  for (let hasty = 0; ; ) {
    signal?.throwIfAborted();
    const began = timing.now();
    if (began >= deadline) throw new ResultTimeoutError(execution, timeoutMs, lost);
    const leftMs = Math.ceil(deadline - began);
    const answer = await oneAnswer((either) => ask(Math.min(ASK_MS, leftMs) / 1_000, either), {
      ms: Math.min(ASK_MS + GRACE_MS, leftMs),
      signal,
      timing,
    });
    if (!(answer instanceof EngineError) && rests(answer)) return answer;

    lost = answer instanceof EngineError ? answer : undefined;
    const now = timing.now();
    hasty = !lost && now - began >= WAITED_MS ? 0 : hasty + 1;
    if (hasty === 0 || now >= deadline) continue;
    await sleep(timing, Math.min(backOffMs(hasty, timing.random()), deadline - now), signal);
  }
}

function timeoutOf(timeout: Duration | undefined): number {
  if (timeout === undefined) return Number.POSITIVE_INFINITY;
  const ms = parseDuration(timeout);
  if (ms) return ms;
  const message = `timeout cannot be ${JSON.stringify(timeout)}; expected more than 0 milliseconds, or a text such as "30s"`;
  throw new EngineError("bad_request", message);
}
