/** A log has a limit (EXE-34): every replay reads it. */
import { engineFailure } from "@engine/contract";
import type { Call } from "../calls/call.ts";
import type { Core } from "../core.ts";

/** A log this long is worth a warning. */
const LARGE_HISTORY = 10_000;

/**
 * Whether the log has no room for that many events more; then the execution fails. The ends of open
 * calls count already: a thousand calls beside each other have begun before the first of them ends.
 */
export function isFull(core: Core, events: number): boolean {
  const { max_events } = core.options.limits;
  const { length } = core.outbox;
  const { open } = core.root;
  const { combinators } = core.givingUp;
  // A quick estimate, too high by calls that have ended and whose outcome has not reached the code.
  if (length + open.size + combinators.size + events <= max_events) return false;
  const ends = endsToCome(open) + endsToCome(combinators);
  if (length + ends + events <= max_events) return false;
  const toCome = ends > 0 ? `, and the calls that are open will add ${ends} more` : "";
  const message = `the log has ${length} events${toCome}; an execution may have ${max_events} (executions.max_events): split the work into child executions`;
  core.doom(engineFailure("HistoryLimitError", message));
  return true;
}

/** Warns once of a long log. */
export function warnOfLength(core: Core): void {
  const { outbox, journal, options } = core;
  if (outbox.length < LARGE_HISTORY || journal.hasWarnedLarge) return;
  journal.hasWarnedLarge = true;
  const message = `the log has ${outbox.length} events, which every replay reads; at ${options.limits.max_events} the execution fails: split the work into child executions`;
  core.warn("history_large", message);
}

function endsToCome(calls: Iterable<Call>): number {
  let ends = 0;
  for (const { isBegun, isConcluded } of calls) if (isBegun && !isConcluded) ends++;
  return ends;
}
