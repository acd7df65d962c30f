import { hash } from "node:crypto";
import { deliveryId, type Event } from "@engine/contract";
import type { FullDelivery } from "@engine/store";
import type { Commit, Evidence } from "../evidence.ts";
import {
  firing,
  type HookWrites,
  hookStates,
  hooksById,
  isGone,
  keyOf,
  segmentOf,
} from "./known-hooks.ts";
import type { Violation } from "./violation.ts";

/** An event that was committed, and a hook that it fires, or may fire. */
interface Match {
  readonly commit: Commit;
  readonly event: Event;
  readonly hook_id: string;
  readonly name: string;
  /** The selectors that may have matched. */
  readonly selectors: readonly string[];
  /** Whatever was known of the hook then, it fires. */
  readonly isSure: boolean;
}

/**
 * I18: an event that an enabled hook asks for has one delivery, and there is no other. What a fork has
 * copied fires nothing, and deliveries go with their hook alone: none is so old that retention takes it.
 */
export function hookDeliveries(evidence: Evidence): readonly Violation[] {
  const hooks = hooksById(evidence);
  if (hooks.size === 0) return [];
  const matches = new Map(
    evidence.commits.flatMap((commit) => matchesOf(commit, hooks)).map((one) => [nameOf(one), one]),
  );
  const deliveries = Map.groupBy(evidence.deliveries, nameOf);
  const recorded = recordedTimes(evidence);
  return [
    ...[...matches].flatMap(([name, match]) =>
      missing(match, { has: deliveries.has(name), isGone: isGone(hooks.get(match.hook_id) ?? []) }),
    ),
    ...[...deliveries].flatMap(([name, [first, ...others]]) => {
      if (!first) return [];
      const match = matches.get(name);
      const wrong = match
        ? wrongIn(first, match, recorded)
        : "no event that fires the hook was committed";
      return [
        ...(wrong === undefined ? [] : [found(first, wrong)]),
        ...others.map((other) => found(other, "its event has another one")),
      ];
    }),
    ...evidence.deliveries
      .filter(({ hook_id }) => isGone(hooks.get(hook_id) ?? []))
      .map((delivery) => found(delivery, "its hook is gone, and it is left")),
  ];
}

function nameOf(of: Match | FullDelivery): string {
  if ("event_key" in of) return `${of.hook_id} ${of.event_key}`;
  return `${of.hook_id} ${of.commit.execution_id}:${of.event.seq}`;
}

function matchesOf(commit: Commit, hooks: ReadonlyMap<string, HookWrites>): readonly Match[] {
  const { row, events } = commit;
  const copied = copiedIn(commit);
  const own = events.filter(({ seq }) => seq === 1 || seq > copied);
  if (own.length === 0) return [];
  return [...hooks].flatMap(([hook_id, writes]) => {
    const states = hookStates(commit, writes);
    const name = writes[0]?.name ?? "";
    return own.flatMap((event): readonly Match[] => {
      const key = keyOf(row, event);
      const selectors = states.flatMap((state) => firing(state, key) ?? []);
      if (selectors.length === 0) return [];
      return [
        { commit, event, hook_id, name, selectors, isSure: selectors.length === states.length },
      ];
    });
  });
}

/** A fork that no worker may ever have ends at once, and copies nothing. */
function copiedIn({ row, events }: Commit): number {
  const isFork = row.forked_from !== null && events.some(({ seq }) => seq === 1);
  if (!isFork || events.at(-1)?.type === "WORKFLOW_FAILED") return 0;
  return row.forked_from?.seq ?? 0;
}

function missing(
  { isSure, commit, event, name }: Match,
  { has, isGone }: { readonly has: boolean; readonly isGone: boolean },
): readonly Violation[] {
  if (has || !isSure || isGone) return [];
  const { execution_id, at } = commit;
  const message = `its event ${event.seq} ${event.type} of ${at} fires hook ${name}, and has no delivery`;
  return [{ invariant: "I18", execution_id, message }];
}

/** When events were recorded, by their keys. */
function recordedTimes({ executions }: Evidence): ReadonlyMap<string, number> {
  return new Map(
    executions.flatMap(({ row, log }) =>
      log.map(
        ({ event, recorded_at }) => [`${row.execution_id}:${event.seq}`, recorded_at] as const,
      ),
    ),
  );
}

/** What of a delivery is not as its event has it. */
function wrongIn(
  delivery: FullDelivery,
  { commit: { row }, event, selectors }: Match,
  recorded: ReadonlyMap<string, number>,
): string | undefined {
  const { id, hook_id, event_key, selector, hop, created_at, event_type, source_workflow } =
    delivery;
  const at = recorded.get(event_key) ?? created_at;
  if (created_at !== at) return `it is of ${created_at}, and its event of ${at}`;
  const derived = deliveryId({ hook_id, event_key, recorded_at: at }, (text) =>
    hash("sha256", text),
  );
  if (id !== derived) return `its id is to be ${derived}`;
  if (!selectors.includes(selector))
    return `selector ${selector} does not match first, but ${selectors[0]}`;
  if (event_type !== segmentOf(event.type)) return `its event is ${event.type}, not ${event_type}`;
  if (source_workflow !== `${row.namespace}/${row.workflow}`)
    return `it is said to be of ${source_workflow}`;
  const behind = row.hook === null ? 0 : row.hook.hop + 1;
  if (hop !== behind) return `it is at hop ${hop}, and its event at ${behind}`;
  return wrongEnvelope(delivery, event);
}

function wrongEnvelope({ envelope, ...row }: FullDelivery, event: Event): string | undefined {
  const said = JSON.parse(envelope) as Readonly<Record<string, unknown>>;
  const { type, execution_id } = said["event"] as Readonly<Record<string, unknown>>;
  const isOf =
    said["hook"] === row.hook &&
    said["selector"] === row.selector &&
    said["delivery_id"] === row.id &&
    said["event_key"] === row.event_key &&
    said["hop"] === row.hop;
  const isOfEvent =
    row.event_key === `${String(execution_id)}:${event.seq}` && type === row.event_type;
  return isOf && isOfEvent ? undefined : `its envelope is of something else: ${envelope}`;
}

function found(
  { hook, event_key, event_type, id, source_execution_id }: FullDelivery,
  wrong: string,
): Violation {
  const message = `delivery ${id} of its event ${event_key} (${event_type}) to hook ${hook}: ${wrong}`;
  return { invariant: "I18", execution_id: source_execution_id, message };
}
