import { EngineError } from "@engine/contract";
import { oneAnswer } from "./one-answer.ts";
import { backOffMs, sleep, type Timing } from "./timing.ts";

/** With the pauses in between about twenty seconds, which a server that restarts stays below. */
const TRIES = 10;
/** How long the answer to one try may take. */
const PATIENCE_MS = 30_000;

interface Start {
  /** `<namespace>/<name>`. */
  readonly workflow: string;
  readonly idempotencyKey?: string | undefined;
  /** Gives up the tries; what was sent may have started. */
  readonly signal?: AbortSignal | undefined;
  readonly timing: Timing;
}

/**
 * Starts one execution. Without an answer nobody knows whether the request arrived; with a key the
 * same request again starts nothing twice (EXE-84), so it is sent until there is an answer.
 *
 * @throws EngineError `unavailable` when there was none.
 */
export async function startOnce<T>(
  send: (signal: AbortSignal | undefined) => Promise<T>,
  { workflow, idempotencyKey, signal, timing }: Start,
): Promise<T> {
  if (idempotencyKey === undefined) {
    return send(signal).catch((error: unknown) => {
      const advice =
        "look for it before you start another, and pass an idempotencyKey to have the next start tried again by itself";
      throw isUnanswered(error) ? uncertain(error, workflow, advice) : error;
    });
  }
  for (let tried = 1; ; tried++) {
    signal?.throwIfAborted();
    const answer = await oneAnswer(send, { ms: PATIENCE_MS, signal, timing });
    if (!(answer instanceof EngineError)) return answer;
    if (tried === TRIES) {
      const key = JSON.stringify(idempotencyKey);
      const advice = `start it again with the same key ${key}, which starts it only if that has not happened`;
      throw uncertain(answer, `after ${TRIES} tries ${workflow}`, advice);
    }
    await sleep(timing, backOffMs(tried, timing.random()), signal);
  }
}

function isUnanswered(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === "unavailable";
}

function uncertain(error: EngineError, what: string, advice: string): EngineError {
  const message = `${error.message}; ${what} may have started or not: ${advice}`;
  return new EngineError("unavailable", message, { cause: error });
}
