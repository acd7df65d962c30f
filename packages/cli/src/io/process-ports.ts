/** Clock, ids and secrets of this process, for a server or a worker that a command starts. */
import { randomBytes, randomUUID } from "node:crypto";
import { createUuidV7 } from "@engine/contract";

const nextId: () => string = createUuidV7(Date.now, randomUUID);

/** The world of this process, as server and worker want it handed in. */
export const processPorts = {
  clock: (): number => Date.now(),
  /**
   * Milliseconds of the machine's clock that nobody sets, the same for all its threads and processes:
   * `machineTime` of the SDK, which takes too long to load for a command that only prints.
   */
  monotonic: (): number => Number(process.hrtime.bigint()) / 1e6,
  ids: (): string => nextId(),
  /** A fresh secret. */
  token: (): string => randomBytes(32).toString("base64url"),
  random: (): number => Math.random(),
  setTimer(run: () => void, ms: number): () => void {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
} as const;
