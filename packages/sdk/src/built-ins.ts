// biome-ignore-all lint/style/noRestrictedGlobals: now() gives a Date, made from the host's clock
import { isName, NAME_RULE } from "@engine/contract";
import { currentScope, inCurrentScope } from "./replay/scope.ts";

/**
 * Stops here until somebody resumes the execution, for minutes or months; it holds no worker slot.
 * Returns the resume input: JSON `null` when it was resumed without one.
 *
 * @param name Tells this pause from others that are open at the same time.
 * @param options.output Shown to whoever resumes it.
 */
export function pause<Input = unknown>(
  name: string,
  options: { readonly output?: unknown } = {},
): Promise<Input> {
  return inCurrentScope("pause", (scope) => {
    if (!isName(name) || name.startsWith("engine.")) {
      throw new TypeError(`pause() needs a name: ${NAME_RULE}, not beginning with "engine."`);
    }
    const [unknown] = Object.keys(options).filter((key) => key !== "output");
    if (unknown) throw new TypeError(`pause() has no option "${unknown}"; it takes: output`);
    return scope.runtime.pause(scope, name, options.output);
  });
}

/** The current time, recorded. */
export function now(): Promise<Date> {
  return inCurrentScope("now", (scope) => {
    return scope.runtime.recordedValue(scope, {
      kind: "now",
      started: null,
      take: (host) => new Date(host.now()),
    });
  });
}

/** A number from 0 up to 1, or an integer from `min` to `max`, both included; recorded. */
export function random(min?: number, max?: number): Promise<number> {
  return inCurrentScope("random", (scope) => {
    if (min === undefined && max === undefined) {
      const take = (host: { random(): number }) => host.random();
      return scope.runtime.recordedValue(scope, {
        kind: "random",
        started: null,
        take,
      });
    }
    const [low, high] = [Number(min), Number(max)];
    if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || low > high) {
      throw new TypeError(`random(min, max) needs integers with min <= max; got ${min} and ${max}`);
    }
    return scope.runtime.recordedValue(scope, {
      kind: "random",
      started: { min: low, max: high },
      take: (host) => low + Math.floor(host.random() * (high - low + 1)),
    });
  });
}

/** A random UUID, version 4, recorded. */
export function uuid(): Promise<string> {
  return inCurrentScope("uuid", (scope) => {
    const take = (host: { uuid(): string }) => host.uuid();
    return scope.runtime.recordedValue(scope, {
      kind: "uuid",
      started: null,
      take,
    });
  });
}

/**
 * Streams a value to whoever watches the execution. Never recorded, returns at once, never throws;
 * costs nothing while nobody watches. Outside a task it does nothing (PRG-1, PRG-2).
 */
export function progress(value: unknown): void {
  const scope = currentScope();
  scope?.runtime.progress(scope, value);
}
