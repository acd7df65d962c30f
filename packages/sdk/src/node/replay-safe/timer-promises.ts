import timerPromises from "node:timers/promises";
import { currentTimedBody, type TimedBody } from "./body.ts";
import { replace } from "./replace.ts";
import { delayOf } from "./timers.ts";

interface WaitOptions {
  readonly signal?: AbortSignal;
}

/** Timers that are promises are durable sleeps in a body too (EXE-31). */
export function installTimerPromises(): void {
  replace([timerPromises], "setTimeout", (native) => {
    return (ms: unknown, value: unknown, options?: WaitOptions) => {
      const body = currentTimedBody();
      return body ? sleep(body, ms, value, options) : native(ms, value, options);
    };
  });
  replace([timerPromises], "setInterval", (native) => {
    return (ms: unknown, value: unknown, options?: WaitOptions) => {
      const body = currentTimedBody();
      return body ? ticks(body, ms, value, options) : native(ms, value, options);
    };
  });
  replace([Object.getPrototypeOf(timerPromises.scheduler)], "wait", (native) => {
    return function wait(this: unknown, ms: unknown, options?: WaitOptions) {
      const body = currentTimedBody();
      return body ? sleep(body, ms, undefined, options) : native.call(this, ms, options);
    };
  });
}

async function* ticks(body: TimedBody, ms: unknown, value: unknown, options?: WaitOptions) {
  for (;;) yield await sleep(body, ms, value, options);
}

function sleep(
  body: TimedBody,
  ms: unknown,
  value: unknown,
  options?: WaitOptions,
): Promise<unknown> {
  const { timer, scope } = body;
  const signal = options?.signal;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw aborted(signal);
    const onAbort = () => {
      cancel();
      reject(aborted(signal));
    };
    const wake = () => {
      signal?.removeEventListener("abort", onAbort);
      resolve(value);
    };
    // A cancel of the execution rejects it, as it does a sleep (EXE-42).
    const cancel = timer(scope, wake, delayOf("setTimeout", ms), reject);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** What Node rejects with. */
function aborted(signal: AbortSignal | undefined): Error {
  const error = new Error("The operation was aborted", { cause: signal?.reason });
  return Object.assign(error, { name: "AbortError", code: "ABORT_ERR" });
}
