import {
  type DispatchMode,
  DispatchMode as DispatchModeSchema,
  EVENT_TYPES,
  type EventType,
  formatInstant,
  isName,
  NAME_RULE,
  parseUtcInstant,
  type Runner,
  Runner as RunnerSchema,
  State,
} from "@engine/contract";
import { InvalidArgumentError } from "commander";

/** A parser for an option that is a whole number of at least `min`, and of at most `max`. */
export function wholeNumber(
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  const range = max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `of at least ${min}`;
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number ${range}.`);
  };
}

/** From -10 to 10 (EXE-80). */
export function priority(text: string): number {
  const value = Number(text);
  if (/^-?\d+$/.test(text) && Math.abs(value) <= 10) return value;
  throw new InvalidArgumentError("Expected a whole number from -10 to 10.");
}

/** An instant as the server reads it: ISO 8601, UTC unless it has an offset. */
export function instant(text: string): string {
  const at = parseUtcInstant(text);
  if (Number.isFinite(at)) return formatInstant(at);
  throw new InvalidArgumentError(
    "Expected an instant such as 2026-11-20T09:00:00Z; without an offset it is UTC.",
  );
}

export function port(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 65_535) return value;
  throw new InvalidArgumentError("Expected a port from 0 to 65535; 0 = any free one.");
}

export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("Expected a number of seconds above 0.");
}

export function secondsOrZero(text: string): number {
  const value = Number(text);
  if (text.trim() && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError("Expected a number of seconds; 0 = at once.");
}

export function secondsOrEver(text: string): number {
  const value = Number(text);
  if (text.trim() && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError("Expected a number of seconds; 0 = for ever.");
}

export function httpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return text;
  throw new InvalidArgumentError("Expected an address such as http://127.0.0.1:8000.");
}

/** Collects `--server-url a --server-url b`. */
export function httpUrls(text: string, before: readonly string[] = []): string[] {
  return [...before, httpUrl(text)];
}

export function dispatchMode(text: string): DispatchMode {
  const parsed = DispatchModeSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`Expected one of ${DispatchModeSchema.options.join(", ")}.`);
}

/** Collects `--label k=v`: split at the first `=`, both sides not empty. */
export function label(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1 || at === text.length - 1) {
    throw new InvalidArgumentError("Expected KEY=VALUE with neither side empty.");
  }
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

export function runner(text: string, before: readonly Runner[] = []): Runner[] {
  const parsed = RunnerSchema.safeParse(text);
  if (!parsed.success) {
    throw new InvalidArgumentError(`Expected one of ${RunnerSchema.options.join(", ")}.`);
  }
  return [...before, parsed.data];
}

export function workerName(text: string): string {
  if (isName(text)) return text;
  throw new InvalidArgumentError(`Expected the name of a worker: ${NAME_RULE}.`);
}

/** Collects `--state paused --state failed`, in any case. */
export function state(text: string, before: readonly State[] = []): State[] {
  const name = text.toUpperCase() as State;
  if (State.options.includes(name)) return [...before, name];
  throw new InvalidArgumentError(`Expected one of ${State.options.join(", ").toLowerCase()}.`);
}

/** Collects `--type task_failed --type WORKFLOW_FAILED`, in any case. */
export function eventType(text: string, before: readonly EventType[] = []): EventType[] {
  const name = text.toUpperCase() as EventType;
  if (EVENT_TYPES.includes(name)) return [...before, name];
  throw new InvalidArgumentError(`Expected one of ${EVENT_TYPES.join(", ").toLowerCase()}.`);
}
