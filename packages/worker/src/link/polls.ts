import type { Poll, SessionRef, WorkerConnection, WorkerFrame } from "@engine/contract";
import { Backoff } from "../backoff.ts";
import { delay, type World } from "../world.ts";
import type { Calls } from "./text-link.ts";

export interface PollsOptions extends Pick<World, "setTimer" | "random" | "life"> {
  readonly link: Calls;
  /** How long the server may keep an answer back. */
  readonly waitSeconds: number;
  /** What the worker says of itself with each poll. */
  status(): Omit<Poll, "wait_seconds">;
  onFrame(frame: WorkerFrame): void;
  /** The server has answered, with frames or without. */
  onAnswer(): void;
}

/**
 * A stream made of requests, for networks that break streams (WRK-10): each poll is a heartbeat that
 * waits for frames. Resolves once the first poll, which does not wait, was answered; ends when a poll
 * fails.
 */
export async function openPolls(ref: SessionRef, options: PollsOptions): Promise<WorkerConnection> {
  const { life, setTimer, waitSeconds } = options;
  const pace = new Backoff(options.random);
  let isOpen = true;
  await poll(0);
  return {
    close: () => {
      isOpen = false;
    },
    closed: keepPolling(),
  };

  async function keepPolling(): Promise<void> {
    try {
      while (isOpen && !life.aborted) {
        if (await poll(waitSeconds)) pace.reset();
        // The server may have answered at once: polls without frames grow less frequent.
        else await delay(setTimer, pace.next(), life);
      }
    } catch {
      // Trouble that lasts is told by the attempt to open the next stream.
    }
  }

  /** Whether there was a frame. */
  async function poll(wait_seconds: number): Promise<boolean> {
    const frames = await options.link.poll(ref, { ...options.status(), wait_seconds });
    if (!isOpen || life.aborted) return true;
    options.onAnswer();
    for (const frame of frames) options.onFrame(frame);
    return frames.length > 0;
  }
}
