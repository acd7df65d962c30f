import type { Entry, Evidence, Look, Violation } from "../evidence.ts";
import { committedAt, hasEnded } from "./logged-calls.ts";

/** A cancelled execution has to be over by then, with everything that it waits for or rolls back. */
const CANCEL_MS = 15_000;
/** Each worker that is lost on the way makes the next one wait longer. */
const CANCEL_KILLED_MS = 60_000;

/** I17: everything ends; what rests waits for something, and says so; a cancel ends it soon. */
export function comesToRest(evidence: Evidence): readonly Violation[] {
  const say = (execution_id: string, message: string) => ({
    judge: "comes to rest",
    execution_id,
    message,
  });
  return [
    ...evidence.executions.flatMap(({ execution_id, history }) => {
      if (hasEnded(history)) return [];
      const { state } = history.execution;
      return say(execution_id, `it is ${state} and goes no further: ${evidence.stuck ?? "?"}`);
    }),
    ...evidence.looks.flatMap((look) =>
      wrongAtRest(look, evidence.entries).map((message) => say(look.execution_id, message)),
    ),
    ...slowCancels(evidence).map(([execution_id, message]) => say(execution_id, message)),
  ];
}

function wrongAtRest(look: Look, entries: readonly Entry[]): string[] {
  const { execution_id, at, state, waiting } = look;
  const isBusy = entries.some(
    (entry) =>
      entry.execution_id === execution_id &&
      entry.at <= at &&
      (entry.exit === null || entry.exit.at > at),
  );
  if (isBusy || state !== "RUNNING") return [];
  if (waiting.length === 0) return ["it rests as RUNNING, and waits for nothing"];
  if (waiting.includes("pause")) return [`it rests as RUNNING with an open pause (${waiting})`];
  return [];
}

function slowCancels({ executions, cancels, deaths }: Evidence): [string, string][] {
  return cancels.flatMap(({ execution_id, at }): [string, string][] => {
    const history = executions.find((one) => one.execution_id === execution_id)?.history;
    const end = history && hasEnded(history) ? history.events.at(-1) : undefined;
    if (!end) return [];
    const ended = committedAt(end);
    const isKilled = deaths.some((death) => death.at >= at && death.at <= ended);
    if (ended - at <= (isKilled ? CANCEL_KILLED_MS : CANCEL_MS)) return [];
    return [[execution_id, `it ended ${ended - at} ms after its cancel was acknowledged`]];
  });
}
