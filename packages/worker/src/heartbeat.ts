import type { Heartbeat, HeartbeatAnswer, WorkerProtocol } from "@engine/contract";
import type { Session } from "./session.ts";
import { messageOf } from "./transient.ts";
import { delay, type Log, type SetTimer } from "./world.ts";

export interface HeartbeatsOptions {
  readonly link: WorkerProtocol;
  readonly session: Session;
  readonly setTimer: SetTimer;
  readonly life: AbortSignal;
  readonly log: Log;
  status(): Heartbeat;
  onDrop(drop: HeartbeatAnswer["drop"][number]): void;
}

/** Says regularly that the worker lives and what it holds (LIV-1). */
export async function keepHeartbeats(options: HeartbeatsOptions): Promise<void> {
  const { session, setTimer, life } = options;
  while (!life.aborted) {
    const answer = await session.registered().catch(() => undefined);
    // A worker that is refused ends.
    if (!answer) return;
    await delay(setTimer, answer.heartbeat_seconds * 1000, life);
    if (!life.aborted) await beat(options);
  }
}

export async function beat(options: HeartbeatsOptions): Promise<void> {
  const { link, session, life, log, status, onDrop } = options;
  try {
    const { drop } = await session.call((ref) => link.heartbeat(ref, status()));
    for (const entry of drop) onDrop(entry);
  } catch (error) {
    // The next one says the same; the stream notices when the server is away.
    if (!life.aborted) log.debug({ error: messageOf(error) }, "a heartbeat did not arrive");
  }
}
