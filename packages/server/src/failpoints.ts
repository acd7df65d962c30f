/**
 * Moments between which a crash leaves different things behind. Each is a channel of
 * `node:diagnostics_channel`, published where the moment comes; `of` says of which kind it is. While
 * nobody listens, it costs a look at a flag. The crash-point sweep kills the process there; a tracer may
 * listen too.
 */
import { type Channel, channel } from "node:diagnostics_channel";
import { EVENT_TYPES, type NewEvent, type Route, routes } from "@engine/contract";
import { answering, answeringLine } from "@engine/http";

/** A change of one execution is decided: its transaction is open, nothing of it is durable. */
export const decided: Channel = channel("engine:server:decided");
/** A change is durable, and nobody has been told: no owner, no caller, no queue. */
export const committed: Channel = channel("engine:server:committed");
/** An execution is claimed, and its worker does not know; then, that the worker was told. */
export const assigning: Channel = channel("engine:server:assigning");
export const assigned: Channel = channel("engine:server:assigned");
/** A start has taken up a part of what an earlier life left. */
export const recovered: Channel = channel("engine:server:recovered");
/** The rows of an execution are deleted, its stored values are not. */
export const forgetting: Channel = channel("engine:server:forgetting");

/** `of` a change that writes no event, such as a hand-over. */
const ROW_ALONE = "row alone";
const REASONS = ["start", "resume", "recover", "cancel"];
const RECOVERIES = ["sessions", "queue", "lead", "listening"];

export function typesOf(events: readonly Pick<NewEvent, "type">[]): readonly string[] {
  return events.length === 0 ? [ROW_ALONE] : events.map(({ type }) => type);
}

function writingRoutes(): readonly string[] {
  const all = Object.values(routes).flatMap((group) => Object.values<Route>(group));
  const answered = all.filter(({ effect, lines }) => effect === "write" && !lines);
  return answered.map(({ method, path }) => `${method} ${path}`);
}

/** Every failpoint of the server and of the routes it serves: its channel, and what it is of. */
export const SERVER_FAILPOINTS: readonly string[] = [
  ...[...EVENT_TYPES, ROW_ALONE].flatMap((of) => [named(decided, of), named(committed, of)]),
  ...REASONS.flatMap((of) => [named(assigning, of), named(assigned, of)]),
  ...writingRoutes().map((of) => named(answering, of)),
  ...RECOVERIES.map((of) => named(recovered, of)),
  String(answeringLine.name),
  String(forgetting.name),
];

function named({ name }: Channel, of: string): string {
  return `${String(name)} ${of}`;
}
