/**
 * Where a failure happened. Two places of the log tell it: `at` among the details of a failure, the
 * first line of the author's own code, and `stack` in the `meta` of the event that tells the failure.
 * Both are for the people who run the workflow; a caller of the workflow is told neither.
 */
import type { ExecutionError, ExecutionRecord } from "../executions/execution.ts";
import type { RecordedEvent } from "../log/recorded-event.ts";
import { Failure } from "./failure.ts";

/** A line of a source file, such as `lib/orders.ts:12:9`. Other text is an author's own `at`. */
const PLACE = /^[^\n]+\.[cm]?[jt]sx?:\d+:\d+$/;

/** The line of the author's code where it happened, if it is known. */
export function placeOf({ details }: Pick<Failure, "details">): string | undefined {
  const at = details?.["at"];
  return typeof at === "string" && PLACE.test(at) ? at : undefined;
}

/**
 * A failure with its place among its details. Details of the author's own stay as they are, an `at`
 * among them too.
 */
export function withPlace(failure: Failure, at: string | undefined): Failure {
  if (at === undefined || Object.hasOwn(failure.details ?? {}, "at")) return failure;
  return { ...failure, details: { ...failure.details, at } };
}

/** The failure as a caller hears of it: without places, its causes' and its rollback's included. */
function withoutPlaces(failure: Failure): Failure {
  const { cause } = failure;
  return { ...failure, cause: cause && withoutPlaces(cause), details: detailsWithout(failure) };
}

function detailsWithout(failure: Failure): Failure["details"] {
  const { details } = failure;
  if (!details) return null;
  const entries = Object.entries(details).map(([key, value]) => [key, inDetails(value)] as const);
  if (placeOf(failure) === undefined) return Object.fromEntries(entries);
  const rest = entries.filter(([key]) => key !== "at");
  return rest.length > 0 ? Object.fromEntries(rest) : null;
}

/** Some details are failures themselves: `rollback`, `retry_if`. */
function inDetails(value: unknown): unknown {
  return Failure.safeParse(value).success ? withoutPlaces(value as Failure) : value;
}

/** What a run or a resume answers: the record without the places of failures and without stacks. */
export function recordForCaller<Told extends Pick<ExecutionRecord, "error" | "events">>(
  record: Told,
): Told {
  const { error, events } = record;
  if (!error && !events) return record;
  return {
    ...record,
    ...(error && { error: { ...error, details: detailsForCaller(error) } }),
    ...(events && { events: events.map(eventForCaller) }),
  };
}

/** The details of a record's error are the failure's other fields. */
function detailsForCaller({ message, details }: ExecutionError): ExecutionError["details"] {
  const failure = { ...details, message };
  if (!Failure.safeParse(failure).success) return details;
  const { message: _, ...rest } = withoutPlaces(failure as unknown as Failure);
  return rest as ExecutionError["details"];
}

/** The same of one event, where a caller asked for each. */
export function eventForCaller(event: RecordedEvent): RecordedEvent {
  const { meta, value } = event;
  const { stack, ...rest } = meta ?? {};
  const told = { ...event, meta: stack === undefined ? meta : emptyAsNull(rest) };
  // An output is the author's: it may hold a failure that the code received and gives on.
  if (!FAILURE_EVENTS.test(event.type)) return told;
  return { ...told, value: withNested(value) } as RecordedEvent;
}

/** Events whose value is a failure, or has one as `error`. */
const FAILURE_EVENTS = /_FAILED$|^TASK_(RETRY|ROLLBACK|FALLBACK)_STARTED$/;

function withNested(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!("error" in value)) return inDetails(value);
  return { ...value, error: inDetails(value.error) };
}

function emptyAsNull(meta: NonNullable<RecordedEvent["meta"]>): RecordedEvent["meta"] {
  return Object.keys(meta).length > 0 ? meta : null;
}
