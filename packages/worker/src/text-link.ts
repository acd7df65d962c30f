/**
 * Execution threads hand over and take JSON text, and so does a remote server. A link that passes it
 * on as it is saves parsing and printing every event again; the server's own handler object deals in
 * parsed items, which costs the one parse that a body would have cost.
 */
import type {
  CheckpointAnswer,
  CheckpointItem,
  ProgressAccepted,
  ProgressItem,
  SessionRef,
  WorkerProtocol,
} from "@engine/contract";
import type { Delta } from "@engine/sdk/node";

export interface TextLink extends WorkerProtocol {
  /** {@link WorkerProtocol.checkpoints} with its body as text. */
  checkpointsText(ref: SessionRef, body: string): Promise<readonly CheckpointAnswer[]>;
  /** {@link WorkerProtocol.progress} with its body as text. */
  progressText(ref: SessionRef, execution_id: string, body: string): Promise<ProgressAccepted>;
  /** {@link WorkerProtocol.events} with its answer as text. */
  eventsText(ref: SessionRef, execution_id: string, page: LogPage): Promise<string>;
  /** What is sent from now on goes by a new connection, to another server where there are several. */
  leaveServer(): void;
}

type LogPage = Parameters<WorkerProtocol["events"]>[2];

/** A delta under the generation it is sent with. */
export interface Outgoing {
  readonly execution_id: string;
  readonly generation: number;
  readonly delta: Delta;
}

export function sendCheckpoints(
  link: WorkerProtocol | TextLink,
  ref: SessionRef,
  items: readonly Outgoing[],
): Promise<readonly CheckpointAnswer[]> {
  if (takesText(link)) {
    return link.checkpointsText(ref, `{"items":[${items.map(itemText).join(",")}]}`);
  }
  return link.checkpoints(ref, items.map(itemOf));
}

/** @param items Each one {@link ProgressItem} as JSON. */
export function sendProgress(
  link: WorkerProtocol | TextLink,
  ref: SessionRef,
  { execution_id, generation }: { execution_id: string; generation: number },
  items: readonly string[],
): Promise<ProgressAccepted> {
  const list = `[${items.join(",")}]`;
  if (takesText(link)) {
    return link.progressText(ref, execution_id, `{"generation":${generation},"items":${list}}`);
  }
  return link.progress(ref, execution_id, {
    generation,
    items: JSON.parse(list) as ProgressItem[],
  });
}

/** One page of a log, as text of an object whose `events` they are. */
export async function readEvents(
  link: WorkerProtocol | TextLink,
  ref: SessionRef,
  execution_id: string,
  page: LogPage,
): Promise<string> {
  if (takesText(link)) return link.eventsText(ref, execution_id, page);
  const { events } = await link.events(ref, execution_id, page);
  return JSON.stringify({ events });
}

/** Whoever is the server itself has no other one. */
export function leaveServer(link: WorkerProtocol | TextLink): void {
  if (takesText(link)) link.leaveServer();
}

function takesText(link: WorkerProtocol | TextLink): link is TextLink {
  return "checkpointsText" in link;
}

function itemText({ execution_id, generation, delta }: Outgoing): string {
  const { base_seq, state, events, waiting } = delta;
  const wait = waiting ? `,"waiting":${JSON.stringify(waiting)}` : "";
  return `{"execution_id":${JSON.stringify(execution_id)},"generation":${generation},"base_seq":${base_seq},"state":"${state}","events":${events}${wait}}`;
}

function itemOf({ execution_id, generation, delta }: Outgoing): CheckpointItem {
  const { base_seq, state, events, waiting } = delta;
  return {
    execution_id,
    generation,
    base_seq,
    state,
    events: JSON.parse(events) as CheckpointItem["events"],
    ...(waiting && { waiting: [...waiting] }),
  };
}
