// biome-ignore-all lint/style/noRestrictedGlobals: now() gives a Date, made from the host's clock
import { isName, NAME_RULE } from "@engine/contract";
import { currentScope, scopeFor } from "./replay/scope.ts";

/**
 * Stops here until somebody resumes the execution, for minutes or months; it holds no worker slot.
 * Returns the resume input: JSON `null` when it was resumed without one.
 *
 * @param name Tells this pause from others that are open at the same time.
 * @param options.output Shown to whoever resumes it.
 */
export async function pause<Input = unknown>(
  name: string,
  options: { readonly output?: unknown } = {},
): Promise<Input> {
  const scope = scopeFor("pause");
  if (!isName(name) || name.startsWith("engine.")) {
    throw new TypeError(`pause() needs a name: ${NAME_RULE}, not beginning with "engine."`);
  }
  const [unknown] = Object.keys(options).filter((key) => key !== "output");
  if (unknown) throw new TypeError(`pause() has no option "${unknown}"; it takes: output`);
  return scope.runtime.pause(scope, name, options.output) as Promise<Input>;
}

/** The current time, recorded. */
export async function now(): Promise<Date> {
  const scope = scopeFor("now");
  return scope.runtime.recordedValue(scope, {
    kind: "now",
    started: null,
    take: (host) => new Date(host.now()),
  }) as Promise<Date>;
}

/** A number from 0 up to 1, or an integer from `min` to `max`, both included; recorded. */
export async function random(min?: number, max?: number): Promise<number> {
  const scope = scopeFor("random");
  if (min === undefined && max === undefined) {
    const take = (host: { random(): number }) => host.random();
    return scope.runtime.recordedValue(scope, {
      kind: "random",
      started: null,
      take,
    }) as Promise<number>;
  }
  const [low, high] = [Number(min), Number(max)];
  if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || low > high) {
    throw new TypeError(`random(min, max) needs integers with min <= max; got ${min} and ${max}`);
  }
  return scope.runtime.recordedValue(scope, {
    kind: "random",
    started: { min: low, max: high },
    take: (host) => low + Math.floor(host.random() * (high - low + 1)),
  }) as Promise<number>;
}

/** A random UUID, version 4, recorded. */
export async function uuid(): Promise<string> {
  const scope = scopeFor("uuid");
  const take = (host: { uuid(): string }) => host.uuid();
  return scope.runtime.recordedValue(scope, {
    kind: "uuid",
    started: null,
    take,
  }) as Promise<string>;
}

/**
 * Streams a value to whoever watches the execution. Never recorded, returns at once, never throws;
 * costs nothing while nobody watches. Outside a task it does nothing (PRG-1, PRG-2).
 */
export function progress(value: unknown): void {
  const scope = currentScope();
  scope?.runtime.progress(scope, value);
}
