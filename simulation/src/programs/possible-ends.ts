/**
 * The oracle: how a program may end, from the program alone. Where nothing races there is exactly one
 * output; a race may give that of any part. A program that was cancelled, or hit by an end that the
 * engine makes, is not judged by it.
 */
import { encode, SENSITIVE } from "@engine/contract";
import { resultOf } from "./interpreter.ts";
import { type Program, partPath, STEP_TASKS, type Step, TERMINAL } from "./program.ts";

interface PossibleEnds {
  /** Whether it may return this, decoded. */
  readonly returns: (value: unknown) => boolean;
  /** Whether it may fail with an error of this message, at its root. */
  readonly fails: (message: string) => boolean;
  readonly canReturn: boolean;
  readonly canFail: boolean;
}

export function possibleEnds(p: Program, path: string): PossibleEnds {
  const at = (i: number | string) => partPath(path, i);
  switch (p.kind) {
    case "step":
      return stepEnds(p, path);
    case "sleep":
    case "timer":
      return only(["slept", path]);
    case "pause":
      return either(["answered", path], p.after_ms !== null && ["nobody answered", path]);
    case "signal":
      return either(["signal", path], p.timeout_ms !== null && ["no signal", path]);
    case "child":
      return possibleEnds(p.part, at("c"));
    case "spawn":
      return only(["spawned", path]);
    case "recorded":
    case "globals":
      return only(["recorded", path]);
    case "forgotten":
      return only(["forgotten", path]);
    case "history":
      return only(["history", path]);
    case "refused":
      return only(["refused", path]);
    case "queue":
      return only(p.items.map((item) => resultOf(at(item), "text")));
    case "inbox":
      return inboxEnds(p, path);
    case "naps":
      return always(([of, ...woken]) => of === path && isOrderOf(p.ms, woken), p.ms.length + 1);
    case "finally":
      return possibleEnds(p.part, at(0));
    case "attempt": {
      const { returns, fails, canReturn, canFail } = possibleEnds(p.part, at(0));
      return always(([how, value]) => {
        if (how === "done") return canReturn && returns(value);
        return how === "caught" && canFail && fails(String(value));
      }, 2);
    }
    case "settled": {
      const ends = p.parts.map((part, i) => possibleEnds(part, at(i)));
      return always((list) => ends.every((end, i) => isSettledAs(end, list[i])), ends.length);
    }
    case "race":
      return anyOf(p.parts.map((part, i) => possibleEnds(part, at(i))));
    case "sequence":
      return listOf(
        p.parts.map((part, i) => possibleEnds(part, at(i))),
        "in order",
      );
    case "pipeline": {
      const ends = p.parts.map((part, i) => possibleEnds(part, at(i)));
      return { ...listOf(ends, "in order"), returns: ends.at(-1)?.returns ?? (() => false) };
    }
    case "graph":
      return graphEnds(p.parts.map((part, i) => possibleEnds(part, at(i))));
    case "parallel":
    case "all":
      return listOf(
        p.parts.map((part, i) => possibleEnds(part, at(i))),
        "at once",
      );
    case "map": {
      const ends = Array.from({ length: p.times }, (_, i) => possibleEnds(p.part, at(i)));
      // With a limit a later item may never begin, and then it is not it that failed.
      return listOf(ends, p.concurrency === 1 ? "in order" : "at once");
    }
  }
}

const NEVER = (): boolean => false;

function stepEnds(p: Step, path: string): PossibleEnds {
  const { attempts } = STEP_TASKS[p.task];
  const mustFail = p.fails >= TERMINAL || p.fails >= attempts;
  if (p.task === "rescued" && mustFail) return only(`rescue of ${path}`);
  const isTimed = p.task === "timed";
  const said = p.task === "secretive" ? SENSITIVE : `failed at ${path}`;
  const fails = (message: string) =>
    (mustFail && message === said) || (isTimed && /time|took longer/i.test(message));
  // Its storage keeps texts.
  const expected = text(resultOf(path, p.task === "kept" ? "text" : p.flavour));
  return {
    returns: mustFail ? NEVER : (value) => text(value) === expected,
    fails,
    canReturn: !mustFail,
    canFail: mustFail || isTimed,
  };
}

/** Nobody is passed over: it has so many letters, or as many times waited for one in vain. */
function inboxEnds({ count, timeout_ms }: Inbox, path: string): PossibleEnds {
  const isLetter = (one: unknown) =>
    one === "signal" || (one === "no signal" && timeout_ms !== null);
  return always(([of, letters]) => {
    return (
      of === path && Array.isArray(letters) && letters.length === count && letters.every(isLetter)
    );
  }, 2);
}

type Inbox = Extract<Program, { kind: "inbox" }>;

/** Each of them once; a crash between two of their beginnings may have put them into another order. */
function isOrderOf(all: readonly unknown[], order: readonly unknown[]): boolean {
  return [...order].sort().every((one, i) => one === i) && order.length === all.length;
}

function only(value: unknown): PossibleEnds {
  return either(value, false);
}

function either(value: unknown, other: unknown): PossibleEnds {
  const texts = [value, ...(other === false ? [] : [other])].map(text);
  const returns = (got: unknown) => texts.includes(text(got));
  return { returns, fails: NEVER, canReturn: true, canFail: false };
}

/** It cannot fail, and returns a list. */
function always(isRight: (list: readonly unknown[]) => boolean, length: number): PossibleEnds {
  const returns = (value: unknown) =>
    Array.isArray(value) && value.length === length && isRight(value);
  return { returns, fails: NEVER, canReturn: true, canFail: false };
}

function isSettledAs(end: PossibleEnds, settled: unknown): boolean {
  if (!Array.isArray(settled)) return false;
  if (settled[0] === "ok") return end.canReturn && end.returns(settled[1]);
  return settled[0] === "failed" && end.canFail;
}

function anyOf(ends: readonly PossibleEnds[]): PossibleEnds {
  return {
    returns: (value) => ends.some(({ returns }) => returns(value)),
    fails: (message) => ends.some(({ fails }) => fails(message)),
    canReturn: ends.some(({ canReturn }) => canReturn),
    canFail: ends.some(({ canFail }) => canFail),
  };
}

/** A list of what all return; in order, what comes behind one that must fail is never reached. */
function listOf(all: readonly PossibleEnds[], how: "in order" | "at once"): PossibleEnds {
  const stop = how === "in order" ? all.findIndex(({ canReturn }) => !canReturn) : -1;
  const ends = stop < 0 ? all : all.slice(0, stop + 1);
  const canReturn = all.every((end) => end.canReturn);
  return {
    returns: (value) =>
      canReturn &&
      Array.isArray(value) &&
      value.length === all.length &&
      all.every(({ returns }, i) => returns(value[i])),
    fails: (message) => ends.some(({ fails }) => fails(message)),
    canReturn,
    canFail: ends.some(({ canFail }) => canFail),
  };
}

/** The first node is before all others. */
function graphEnds(ends: readonly PossibleEnds[]): PossibleEnds {
  const [first, ...rest] = ends;
  if (!first) return only([]);
  const whole = listOf(ends, "at once");
  if (first.canReturn) return whole;
  return rest.length > 0 ? { ...whole, fails: first.fails } : whole;
}

/** Equal texts are equal values. */
function text(value: unknown): string {
  return JSON.stringify(encode(value, "value"));
}
