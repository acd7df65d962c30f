import { setMaxListeners } from "node:events";
import { type Farewell, refusedBy, supersededBy } from "./farewell.ts";
import { beat, keepHeartbeats } from "./heartbeat.ts";
import type { WorkerOptions } from "./worker-options.ts";
import { createParts } from "./worker-parts.ts";
import { within } from "./world.ts";

/** For what is still on its way when a worker stops (WRK-12), and when it must stop now (WRK-13). */
const FLUSH_MS = 10_000;
const HURRIED_FLUSH_MS = 2_000;
const DISCONNECT_MS = 2_000;

export interface WorkerStatus {
  /** Executions that hold a slot. */
  readonly running: number;
  /** Executions that wait in memory, without one. */
  readonly warm: number;
}

export interface RunningWorker {
  readonly name: string;
  status(): WorkerStatus;
  /** Settles once the server has welcomed the worker, or when it ends before. */
  readonly connected: Promise<void>;
  /**
   * Takes no new work, waits for what runs up to `drain_timeout`, gives the rest back and ends the
   * session. With `abort` everything is given back at once, also when a stop is under way.
   */
  stop(options?: { abort?: boolean }): Promise<void>;
  /** Settles when the worker has ended, whoever ended it. */
  readonly stopped: Promise<void>;
}

/**
 * Starts a worker. From then on it connects by itself, for as long as that takes, and can be
 * stopped. Rejects only for a configuration that cannot work.
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { name, link, config, log, setTimer } = options;
  const life = new AbortController();
  // Every wait between two tries listens to it.
  setMaxListeners(0, life.signal);
  const connected = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const hurry = Promise.withResolvers<void>();
  let isHurried = false;
  let draining: Promise<void> | undefined;

  const parts = await createParts(options, {
    life: life.signal,
    welcomed: connected.resolve,
    superseded: (by) => leave(supersededBy(name, by)),
    refused: (error) => leave(refusedBy(name, error)),
  });
  const { session, stream, heartbeats, copies, warm, executions, pool } = parts;
  void stream.run();
  void keepHeartbeats(heartbeats);

  return {
    name,
    status: () => ({ running: copies.size, warm: warm.size }),
    connected: connected.promise,
    stopped: stopped.promise,
    stop({ abort = false } = {}) {
      if (abort) {
        isHurried = true;
        hurry.resolve();
      }
      draining ??= drain();
      return draining;
    },
  };

  async function drain(): Promise<void> {
    executions.drain();
    // At once, so that the server sends no more work here.
    if (copies.size > 0) void beat(heartbeats);
    const finished = Promise.race([copies.empty(), hurry.promise]);
    await within(setTimer, config.drain_timeout * 1000, finished);
    executions.releaseAll("draining");
    await within(setTimer, isHurried ? HURRIED_FLUSH_MS : FLUSH_MS, copies.empty());
    if (!life.signal.aborted && session.isRegistered) {
      const farewell = session.call((ref) => link.disconnect(ref)).catch(() => {});
      await within(setTimer, DISCONNECT_MS, farewell);
    }
    await end();
  }

  /** The server has no use for this process: nothing more is written, nothing given back. */
  function leave({ code, message }: Farewell): void {
    if (life.signal.aborted) return;
    log.error({ worker: name }, message);
    void end(() => options.exit(code, message));
  }

  async function end(then = () => {}): Promise<void> {
    life.abort();
    executions.dropAll("the worker ends");
    await pool.close();
    then();
    connected.resolve();
    stopped.resolve();
  }
}
