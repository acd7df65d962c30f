import {
  DispatchMode,
  EVENT_TYPES,
  type EventType,
  formatInstant,
  Grant,
  isName,
  type LimitRate,
  NAME_RULE,
  parseDuration,
  parseUtcInstant,
  Runner,
  State,
} from "@engine/contract";
import { InvalidArgumentError } from "commander";

type Parser<Value> = (text: string) => Value;
/** Of an option that may be repeated. */
type Collector<Value> = (text: string, before?: readonly Value[]) => Value[];

/** @param read Undefined for a text that is not what is expected. */
function parser<Value>(expected: string, read: (text: string) => Value | undefined): Parser<Value> {
  return (text) => {
    const value = read(text);
    if (value !== undefined) return value;
    throw new InvalidArgumentError(`Expected ${expected}.`);
  };
}

function collector<Value>(parse: Parser<Value>): Collector<Value> {
  return (text, before = []) => [...before, parse(text)];
}

/** A parser for an option that is a whole number of at least `min`, and of at most `max`. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): Parser<number> {
  const range = max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `of at least ${min}`;
  return parser(`a whole number ${range}`, (text) => whole(text, min, max));
}

function whole(text: string, min: number, max: number): number | undefined {
  const isWhole = (min < 0 ? /^-?\d+$/ : /^\d+$/).test(text);
  return isWhole && Number(text) >= min && Number(text) <= max ? Number(text) : undefined;
}

/** From -10 to 10 (EXE-80). */
export const priority: Parser<number> = wholeNumber(-10, 10);

export const port: Parser<number> = parser("a port from 0 to 65535; 0 = any free one", (text) =>
  whole(text, 0, 65_535),
);

export const seconds: Parser<number> = parser("a number of seconds above 0", (text) => {
  const value = fromZero(text);
  return value === 0 ? undefined : value;
});

export const secondsOrZero: Parser<number> = parser("a number of seconds; 0 = at once", fromZero);

export const secondsOrEver: Parser<number> = parser("a number of seconds; 0 = for ever", fromZero);

function fromZero(text: string): number | undefined {
  const value = Number(text);
  return text.trim() && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** An instant as the server reads it: ISO 8601, UTC unless it has an offset. */
export const instant: Parser<string> = parser(
  "an instant such as 2026-11-20T09:00:00Z; without an offset it is UTC",
  (text) => {
    const at = parseUtcInstant(text);
    return Number.isFinite(at) ? formatInstant(at) : undefined;
  },
);

const DAY_MS = 86_400_000;

/** A whole number of days, as `90d`. */
export const days: Parser<number> = parser("days from 1d to 3650d, such as 90d", (text) => {
  const count = (parseDuration(text) ?? 0) / DAY_MS;
  return whole(String(count), 1, 3650);
});

export const httpUrl: Parser<string> = parser("an address such as http://127.0.0.1:8000", (text) =>
  /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined,
);

/** Collects `--server-url a --server-url b`. */
export const httpUrls: Collector<string> = collector(httpUrl);

export const dispatchMode: Parser<DispatchMode> = oneOf(DispatchMode.options);

export const runner: Collector<Runner> = collector(oneOf(Runner.options));

/** Collects `--state paused --state failed`, in any case. */
export const state: Collector<State> = collector(
  oneOf(State.options, (text) => text.toUpperCase()),
);

/** Collects `--type task_failed --type WORKFLOW_FAILED`, in any case. */
export const eventType: Collector<EventType> = collector(
  oneOf(EVENT_TYPES, (text) => text.toUpperCase()),
);

/** @param spelled How one of the words is spelled that was typed in another way. */
function oneOf<Word extends string>(
  words: readonly Word[],
  spelled: (text: string) => string = (text) => text,
): Parser<Word> {
  return parser(`one of ${words.join(", ").toLowerCase()}`, (text) =>
    words.find((word) => word === spelled(text)),
  );
}

export const workerName: Parser<string> = parser(`the name of a worker: ${NAME_RULE}`, (text) =>
  isName(text) ? text : undefined,
);

/** Collects `--permission workflow:shop:*:read --permission execution:*:read`. */
export const permissions: Collector<string> = collector(
  parser(
    "1 to 12 words joined by ':', each * or letters, digits and _.@-, such as workflow:shop:*:read",
    (text) => (Grant.safeParse(text).success ? text : undefined),
  ),
);

/** Collects `--role viewer --role operator`; which roles there are is the server's to say. */
export const texts: Collector<string> = collector((text) => text);

type Pairs = (text: string, before?: Record<string, string>) => Record<string, string>;

/** Collects `--label k=v`: split at the first `=`, both sides not empty. */
export function pairs(expected: string): Pairs {
  return (text, before = {}) => {
    const at = text.indexOf("=");
    if (at < 1 || at === text.length - 1) {
      throw new InvalidArgumentError(`Expected ${expected} with neither side empty.`);
    }
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  };
}

export const label: Pairs = pairs("KEY=VALUE");

/** `100/1m`: so many may begin in any window of that length (FLW-3). */
export const limitRate: Parser<LimitRate> = parser("N/PERIOD, such as 100/1m", (text) => {
  const [count = "", period = "", ...rest] = text.split("/");
  const most = whole(count, 1, 100_000);
  const ms = /^\d+$/.test(period) ? Number(period) * 1000 : parseDuration(period);
  if (rest.length > 0 || most === undefined || ms === undefined) return undefined;
  return { count: most, period_seconds: ms / 1000 };
});
