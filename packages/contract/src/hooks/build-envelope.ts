/** Envelopes of the deliveries of a commit, as the text that is stored and then never rebuilt (HOOK-21). */
import type { Event } from "../log/event.ts";
import { formatInstant, parseEventTime } from "../values/time.ts";
import type { DeliveryDraft, HookedChange } from "./deliveries.ts";
import { type EnvelopeOptions, envelopeValue, type RedactJson } from "./envelope-value.ts";
import { eventSegment } from "./vocabulary.ts";

/**
 * The envelope of each delivery as JSON text, for its first try. The part of an event is built once for
 * all hooks. Never throws: a value that cannot be shown has a marker in its place, and no envelope ever
 * holds up its event (HOOK-16).
 *
 * @param change The one that the deliveries are of.
 */
export function envelopeTexts(
  change: Pick<HookedChange, "row" | "recorded_at">,
  deliveries: readonly DeliveryDraft[],
  options: EnvelopeOptions,
): readonly string[] {
  const parts = new Map<Event, string>();
  return deliveries.map((delivery) => {
    const { event } = delivery;
    const part = parts.get(event) ?? eventPart(change, event, options);
    parts.set(event, part);
    return envelopeText(delivery, part, options.redact);
  });
}

function envelopeText(delivery: DeliveryDraft, eventJson: string, redact: RedactJson): string {
  const { id: delivery_id, event_key, hop } = delivery;
  const [hook, selector] = chosen([delivery.hook, delivery.selector], redact);
  const head = JSON.stringify({ hook, selector, delivery_id, event_key, attempt: 1, hop });
  return spliced(head, "event", eventJson);
}

/** The event as each of its envelopes has it. */
function eventPart(
  { row, recorded_at }: Pick<HookedChange, "row" | "recorded_at">,
  event: Event,
  options: EnvelopeOptions,
): string {
  const { domain, segment: type } = eventSegment(event.type);
  const isTask = domain === "task";
  const [workflow_namespace, workflow_name, task_name, task_call_id] = chosen(
    [row.namespace, row.workflow, isTask ? event.name : null, isTask ? event.source_id : null],
    options.redact,
  );
  const head = {
    domain,
    type,
    execution_id: row.execution_id,
    workflow_namespace,
    workflow_name,
    task_name,
    task_call_id,
    state: isTask ? null : type,
    occurred_at: occurredAt(event, recorded_at),
  };
  return spliced(JSON.stringify(head), "value", envelopeValue(event.value, options));
}

/** A worker's own clock; where what it sent is no time, that of the commit. */
function occurredAt({ time }: Event, recorded_at: number): string {
  const ms = parseEventTime(time);
  return formatInstant(Number.isNaN(ms) ? recorded_at : ms);
}

/**
 * Names that people chose, redacted; what the engine makes itself, ids and words of its own, is no
 * secret of anybody. Unlike a value they stay where redaction fails: whoever sees the hook knows them.
 */
function chosen(
  names: readonly (string | null)[],
  redact: RedactJson,
): readonly (string | null | undefined)[] {
  try {
    return JSON.parse(redact(JSON.stringify(names)));
  } catch {
    return names;
  }
}

/** A JSON object with one more member, whose value is JSON text already. */
function spliced(object: string, key: string, json: string): string {
  return `${object.slice(0, -1)},"${key}":${json}}`;
}
