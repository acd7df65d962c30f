import timers from "node:timers";
import timerPromises from "node:timers/promises";
import { promisify } from "node:util";
import { currentTimedBody } from "./body.ts";
import { DurableTimer } from "./durable-timer.ts";
import { type AnyFunction, replace } from "./replace.ts";

/**
 * `setTimeout` and `setInterval` of a body are durable sleeps, `clearTimeout` and `clearInterval`
 * cancel them (EXE-31). Comes after the timers that are promises: `promisify` leads to those.
 */
export function installTimers(): void {
  const holders = [globalThis, timers];
  replace(holders, "setTimeout", (native) => {
    const replacement = timerFunction("setTimeout", native);
    Object.defineProperty(replacement, promisify.custom, {
      enumerable: true,
      get: () => timerPromises.setTimeout,
    });
    return replacement;
  });
  replace(holders, "setInterval", (native) => timerFunction("setInterval", native));
  for (const key of ["clearTimeout", "clearInterval"]) replace(holders, key, clearFunction);
}

function timerFunction(name: "setTimeout" | "setInterval", native: AnyFunction): AnyFunction {
  return (callback: unknown, ms: unknown, ...args: unknown[]) => {
    const body = currentTimedBody();
    if (!body) return native(callback, ms, ...args);
    if (typeof callback !== "function") throw notAFunction(name, callback);
    const of = { callback: callback as AnyFunction, args, ms: delayOf(name, ms) };
    return new DurableTimer(body, { ...of, repeats: name === "setInterval" });
  };
}

function clearFunction(native: AnyFunction): AnyFunction {
  return (timer: unknown) => {
    if (timer instanceof DurableTimer) timer.close();
    else if (typeof timer === "number" || typeof timer === "string") {
      const body = currentTimedBody();
      const durable = body && DurableTimer.numbered(body, Number(timer));
      if (durable) durable.close();
      else native(timer);
    } else native(timer);
  };
}

/** Like Node, except that a sleep may take longer than 24 days. */
export function delayOf(name: string, ms: unknown): number {
  const delay = Number(ms);
  if (delay === Number.POSITIVE_INFINITY) {
    throw new RangeError(
      `${name}() in a workflow body needs a finite delay in milliseconds; got Infinity. To wait for somebody, use pause()`,
    );
  }
  return delay >= 1 ? Math.trunc(delay) : 1;
}

function notAFunction(name: string, callback: unknown): TypeError {
  const got = typeof callback === "string" ? "a string of code" : typeof callback;
  const message = `${name}() needs a function to call; got ${callback === null ? "null" : got}`;
  return Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_TYPE" });
}
