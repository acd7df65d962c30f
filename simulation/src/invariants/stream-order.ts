import { isTerminal } from "@engine/contract";
import type { Evidence, ExecutionAtRest, FrameSeen, StreamSeen } from "../evidence.ts";
import { PROGRESS_MARK } from "../programs/program.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { commitOf, commitsByExecution } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** The word that a frame has for each event that makes a state. */
const WORDS: Readonly<Partial<Record<string, string>>> = {
  WORKFLOW_CREATED: "created",
  WORKFLOW_CLAIMED: "claimed",
  WORKFLOW_STARTED: "running",
  WORKFLOW_PAUSED: "paused",
  WORKFLOW_RESUMING: "resuming",
  WORKFLOW_RESUMED: "running",
  WORKFLOW_CANCELLING: "cancelling",
  WORKFLOW_CANCELLED: "cancelled",
  WORKFLOW_COMPLETED: "completed",
  WORKFLOW_FAILED: "failed",
};
const LAST: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/**
 * I22: a reader sees every state in order, none twice and none before it is durable; the last frame
 * is that of the end; progress is never stored.
 */
export function streamOrder(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  const executions = new Map(evidence.executions.map((one) => [one.row.execution_id, one]));
  const commits = commitsByExecution(evidence);
  const ofServers = evidence.faults.some(({ kind }) => kind.endsWith("_server"));
  const found = (execution_id: string, message: string): Violation => ({
    invariant: "I22",
    execution_id,
    message,
  });
  const stored = evidence.executions.flatMap(({ row, log }) => {
    const kept = log.find(({ event }) => JSON.stringify(event).includes(PROGRESS_MARK));
    return kept ? [found(row.execution_id, `event ${kept.event.seq} has a progress value`)] : [];
  });
  const seen = evidence.streams.flatMap((stream) => {
    const { execution_id: id, reader } = stream;
    const execution = executions.get(id);
    if (!execution) return [];
    const messages = [
      ...order(stream, execution, excuse),
      ...ending(stream, () => {
        if (hasSeenAll(stream, execution)) return true;
        return ofServers && excuse("stream ended with its server");
      }),
    ];
    for (const frame of stream.frames) {
      if (frame.id === null) continue;
      const commit = commitOf(commits.get(id) ?? [], frame.id);
      if (!commit) messages.push(`a frame ${frame.event} has the number ${frame.id}, of no event`);
      else if (commit.at > frame.at) {
        messages.push(
          `frame ${frame.id} ${frame.event} came at ${frame.at}; it was durable at ${commit.at}`,
        );
      }
    }
    return messages.map((message) => found(id, `reader ${reader}: ${message}`));
  });
  return [...stored, ...seen];
}

function wordOf({ event }: FrameSeen): string | undefined {
  const [, word] = event.split(".execution.");
  return word;
}

function order(
  { frames, after, events }: StreamSeen,
  { log }: ExecutionAtRest,
  excuse: Excuse,
): string[] {
  const messages: string[] = [];
  let seen = after;
  let isFirst = after === null;
  for (const frame of frames.filter((one) => wordOf(one) !== undefined)) {
    const id = frame.id ?? 0;
    const from = seen ?? id - 1;
    // An event has two frames of its number there, and the cut may have been between them.
    const isOther = events === "all" && seen === after && id === after;
    if (id <= from && !isOther)
      messages.push(`frame ${id} ${frame.event} came behind frame ${from}`);
    const skipped = log.find(
      ({ event }) => event.seq > from && event.seq < id && WORDS[event.type] !== undefined,
    );
    if (skipped && seen !== null) {
      messages.push(
        `between frames ${from} and ${id} that of event ${skipped.event.seq} ${skipped.event.type} is missing`,
      );
    }
    const expected = WORDS[log[id - 1]?.event.type ?? ""];
    const isOdd = !isOther && expected !== wordOf(frame);
    if (isOdd && !(isFirst && excuse("state of the moment"))) {
      messages.push(`frame ${id} says ${wordOf(frame)}, event ${id} makes it ${expected}`);
    }
    seen = id;
    isFirst = false;
  }
  if (events !== "all") return messages;
  const ids = frames.filter(({ event }) => event === "event").map(({ id }) => id ?? 0);
  const gap = ids.findIndex((id, i) => i > 0 && id !== (ids[i - 1] ?? 0) + 1);
  if (gap > 0) messages.push(`event ${ids[gap]} came behind event ${ids[gap - 1]}`);
  return messages;
}

/** It was opened behind the end: there is nothing to tell. */
function hasSeenAll({ after }: StreamSeen, { row, log }: ExecutionAtRest): boolean {
  return after !== null && isTerminal(row.state) && after >= log.length;
}

/** A stream that the server ends has told the end; nothing follows it. */
function ending({ frames, closed }: StreamSeen, mayStop: () => boolean): string[] {
  const end = frames.findIndex((frame) => LAST.has(wordOf(frame) ?? ""));
  const behind = end < 0 ? undefined : frames[end + 1];
  if (behind) return [`frame ${behind.event} came behind ${frames[end]?.event}`];
  if (end >= 0 || closed !== "server" || mayStop()) return [];
  return [`the server ended the stream behind frame ${frames.at(-1)?.event}, without its end`];
}
