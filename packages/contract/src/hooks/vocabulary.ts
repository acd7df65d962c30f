/**
 * The words by which selectors name events. They follow from the table of event types: there is no
 * other list of them (HOOK-7).
 */
import { EVENT_TYPES, type EventType } from "../log/event-values.ts";

/** What an event is about: an execution itself, or one call in it. */
export const HOOK_DOMAINS = ["execution", "task"] as const;
export type HookDomain = (typeof HOOK_DOMAINS)[number];

/** How an event of one type is named in keys and selectors. */
export interface EventSegment {
  readonly domain: HookDomain;
  /** The last segment of its key: a state of the execution, or what happened to the call. */
  readonly segment: string;
}

/** An execution runs from its start, and again from every resume. */
const RUNNING: ReadonlySet<string> = new Set<EventType>(["WORKFLOW_STARTED", "WORKFLOW_RESUMED"]);

/** Legal before there are events of these types: a hook made today fires on the day they come. */
const APPROVALS = ["awaiting_approval", "approved", "rejected"];

/** A type that begins with neither has no place in a selector, and does not compile here. */
function segmentOf(type: `WORKFLOW_${string}` | `TASK_${string}`): EventSegment {
  if (RUNNING.has(type)) return { domain: "execution", segment: "running" };
  const domain = type.startsWith("WORKFLOW_") ? "execution" : "task";
  return { domain, segment: type.slice(type.indexOf("_") + 1).toLowerCase() };
}

// `Object.fromEntries` knows no keys; the list has every one.
const SEGMENTS = Object.fromEntries(EVENT_TYPES.map((type) => [type, segmentOf(type)])) as Readonly<
  Record<EventType, EventSegment>
>;

/** The domain and the last key segment of an event type; every type has them. */
export function eventSegment(type: EventType): EventSegment {
  return SEGMENTS[type];
}

/** Every word that the last segment of a selector may be, by domain, in the order of the event table. */
export const HOOK_SEGMENTS: Readonly<Record<HookDomain, readonly string[]>> = {
  execution: segmentsOf("execution"),
  task: [...new Set([...segmentsOf("task"), ...APPROVALS])],
};

function segmentsOf(domain: HookDomain): readonly string[] {
  const own = Object.values(SEGMENTS).filter((segment) => segment.domain === domain);
  return [...new Set(own.map(({ segment }) => segment))];
}
