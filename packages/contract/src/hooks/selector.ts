/** Selectors of hooks: what they may be, and why one that can never fire is refused (HOOK-5 to 9). */
import { isName, NAME_RULE, nearest } from "../values/name.ts";
import { HOOK_DOMAINS, HOOK_SEGMENTS, type HookDomain } from "./vocabulary.ts";

/** A legal selector. */
export interface HookSelector {
  /** As it was written. */
  readonly text: string;
  readonly domain: HookDomain;
  /**
   * The segments behind the domain, as many as keys of the domain have; `*` is any. Keys have a fixed
   * width, so that a `*` at the end stands for exactly the segments that are left.
   */
  readonly pattern: readonly string[];
}

/** Why a selector is refused: `details.reason` of `invalid_selector`. */
export type SelectorReason =
  | "unknown_domain"
  | "wrong_width"
  | "bad_segment"
  | "bad_name"
  | "unknown_state"
  | "unknown_event"
  /** Legal, but none of the hook that is asked to fire by it (HOOK-37). */
  | "not_of_this_hook";

/** `details` of the error `invalid_selector` (HOOK-9). */
export interface SelectorRefusal {
  readonly selector: string;
  /** Its place in the list that was given, from 0. */
  readonly index: number;
  readonly reason: SelectorReason;
  /** What it has to be instead, for people. */
  readonly hint: string;
  /** The words that are legal there, of `unknown_state` and `unknown_event`. */
  readonly allowed?: readonly string[];
}

/** What the segments behind a domain stand for; the last is a word of the vocabulary. */
const SHAPES = {
  execution: ["namespace", "workflow", "state"],
  task: ["namespace", "workflow", "task", "event"],
} as const satisfies Readonly<Record<HookDomain, readonly string[]>>;

type Fault = Omit<SelectorRefusal, "selector" | "index">;

/**
 * Reads one selector. Names that nothing has yet are taken: it may be registered later.
 *
 * @param index Its place in the list it comes from, for the refusal.
 */
export function parseHookSelector(
  text: string,
  index = 0,
):
  | { readonly selector: HookSelector; readonly refusal?: undefined }
  | { readonly selector?: undefined; readonly refusal: SelectorRefusal } {
  const [domain = "", ...given] = text.split(":");
  const refused = (fault: Fault) => ({ refusal: { selector: text, index, ...fault } });
  if (!isDomain(domain)) return refused(unknownDomain(domain));
  const shape = SHAPES[domain];
  const isOpen = given.at(-1) === "*";
  const before = isOpen ? given.slice(0, -1) : given;
  const fits = isOpen ? before.length <= shape.length : before.length === shape.length;
  if (!fits) return refused(wrongWidth(domain, before.length, isOpen));
  for (const [at, segment] of before.entries()) {
    const fault = faultOf(segment, domain, at);
    if (fault) return refused(fault);
  }
  return { selector: { text, domain, pattern: shape.map((_, at) => before[at] ?? "*") } };
}

/**
 * Reads the selectors of a hook: an exact repeat is dropped, the first stays, the order is kept
 * (HOOK-1). The first that is none refuses all; its index counts the list as it was given.
 */
export function parseHookSelectors(
  texts: readonly string[],
):
  | { readonly selectors: readonly HookSelector[]; readonly refusal?: undefined }
  | { readonly selectors?: undefined; readonly refusal: SelectorRefusal } {
  const selectors = new Map<string, HookSelector>();
  for (const [index, text] of texts.entries()) {
    const { selector, refusal } = parseHookSelector(text, index);
    if (refusal) return { refusal };
    if (!selectors.has(text)) selectors.set(text, selector);
  }
  return { selectors: [...selectors.values()] };
}

/** Whether two lists select by the same selectors, whatever their order and repeats (HOOK-41). */
export function sameSelectors(one: readonly string[], other: readonly string[]): boolean {
  const [a, b] = [new Set(one), new Set(other)];
  return a.size === b.size && [...a].every((text) => b.has(text));
}

function isDomain(text: string): text is HookDomain {
  return (HOOK_DOMAINS as readonly string[]).includes(text);
}

function shapeOf(domain: HookDomain): string {
  return [domain, ...SHAPES[domain].map((segment) => `<${segment}>`)].join(":");
}

function unknownDomain(domain: string): Fault {
  const reason = "unknown_domain";
  if (domain === "*") {
    return { reason, hint: "for events of both domains use execution:* and task:*" };
  }
  const near = nearest(domain, HOOK_DOMAINS);
  const meant = near === undefined ? "" : `; did you mean ${near}?`;
  return { reason, hint: `a selector begins with execution: or task:${meant}` };
}

function wrongWidth(domain: HookDomain, before: number, isOpen: boolean): Fault {
  const most = SHAPES[domain].length + 1;
  const count = before + 1;
  const hint = isOpen
    ? `before the last * at most the ${most} segments ${shapeOf(domain)} may stand, here are ${count}`
    : `it must be ${most} segments, ${shapeOf(domain)}, or fewer and a last *; here are ${count}`;
  return { reason: "wrong_width", hint };
}

function faultOf(segment: string, domain: HookDomain, at: number): Fault | undefined {
  if (segment === "*") return undefined;
  const shape = SHAPES[domain];
  if (segment === "" || /[\s*]/.test(segment)) {
    const hint = `a segment is a whole name or exactly *, the ${shape[at]} is ${JSON.stringify(segment)}`;
    return { reason: "bad_segment", hint };
  }
  if (at === shape.length - 1) return unknownWord(segment, domain);
  return isName(segment)
    ? undefined
    : { reason: "bad_name", hint: `a ${shape[at]} is named by ${NAME_RULE}` };
}

function unknownWord(word: string, domain: HookDomain): Fault | undefined {
  const allowed = HOOK_SEGMENTS[domain];
  if (allowed.includes(word)) return undefined;
  const reason = domain === "execution" ? "unknown_state" : "unknown_event";
  return { reason, hint: HINTS[domain].get(word) ?? nearestWord(word, allowed), allowed };
}

function nearestWord(word: string, allowed: readonly string[]): string {
  const near = nearest(word, allowed);
  return near === undefined
    ? `no such word, and none is near; it may be ${allowed.join(", ")}`
    : `did you mean ${near}?`;
}

const RUNNING = "did you mean running? It is the state after a start and after every resume";

/** Words of which the nearest legal one would mislead. */
const HINTS: Readonly<Record<HookDomain, ReadonlyMap<string, string>>> = {
  execution: new Map([
    ["started", RUNNING],
    ["resumed", RUNNING],
  ]),
  task: new Map([["progress", "progress is never persisted, so that no hook can fire for it"]]),
};
