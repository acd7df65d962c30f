import { setMaxListeners } from "node:events";
import { Drain } from "./executions/drain.ts";
import { type Farewell, refusedBy, supersededBy } from "./farewell.ts";
import type { WorkerOptions } from "./worker-options.ts";
import { createParts } from "./worker-parts.ts";
import { within } from "./world.ts";

/** Time for requests on their way when a worker stops (WRK-12), and when it must stop now (WRK-13). */
const FLUSH_MS = 10_000;
const HURRIED_FLUSH_MS = 1_500;
const DISCONNECT_MS = 2_000;
const HURRIED_DISCONNECT_MS = 250;
const HURRIED_CLOSE_MS = 250;

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
  /** Settles when the worker has ended, by {@link stop} or because an operator has drained it. */
  readonly stopped: Promise<void>;
}

/**
 * Starts a worker. From then on it connects by itself, for as long as that takes, and can be
 * stopped. Rejects only for a configuration that cannot work.
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { name, link, config, log, setTimer, monotonic } = options;
  const life = new AbortController();
  // Every wait between two tries listens to it.
  setMaxListeners(0, life.signal);
  const connected = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const hurry = Promise.withResolvers<void>();
  let isHurried = false;
  let leaving: Promise<void> | undefined;

  const parts = await createParts(options, {
    life: life.signal,
    welcomed: connected.resolve,
    drain(seconds) {
      // A worker that leaves already goes by the time it has, unless it is told another one.
      if (seconds !== undefined || !leaving) void drain(seconds ?? config.drain_timeout);
    },
    superseded: (by) => end(supersededBy(name, by)),
    refused: (error) => end(refusedBy(name, error)),
  }).catch((error: unknown) => {
    // What had begun by then ends with it.
    life.abort();
    throw error;
  });
  const { session, stream, heartbeats, copies, warm, executions, gate, pool } = parts;
  const draining = new Drain({
    copies,
    setTimer,
    monotonic,
    begin() {
      executions.drain();
      // The server hears it at once, so that it sends no more work here.
      if (copies.size > 0) void heartbeats.now();
    },
    startNothing: () => gate.leave(),
    releaseAll: () => executions.releaseAll("draining"),
  });
  void stream.run();
  void heartbeats.run();

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
      return drain(abort ? 0 : config.drain_timeout);
    },
  };

  /** Leaves in order; one that is under way is hastened. */
  function drain(seconds: number): Promise<void> {
    const over = draining.within(seconds * 1000);
    leaving ??= leave(over);
    return leaving;
  }

  async function leave(drained: Promise<void>): Promise<void> {
    await drained;
    await flushed(copies.empty(), FLUSH_MS, HURRIED_FLUSH_MS);
    if (!life.signal.aborted && session.isRegistered) {
      const farewell = session.call((ref) => link.disconnect(ref)).catch(() => {});
      await flushed(farewell, DISCONNECT_MS, HURRIED_DISCONNECT_MS);
    }
    await close();
  }

  /** Waits for `work`; less long once a stop with `abort` is under way. */
  async function flushed(work: Promise<void>, ms: number, hurriedMs: number): Promise<void> {
    await within(setTimer, ms, Promise.race([work, hurry.promise]));
    if (isHurried) await within(setTimer, hurriedMs, work);
  }

  /** The server has no use for this process: nothing more is written, nothing given back. */
  function end({ code, message }: Farewell): void {
    if (life.signal.aborted) return;
    log.error({ worker: name }, message);
    void close(() => options.exit(code, message));
  }

  async function close(then = () => {}): Promise<void> {
    life.abort();
    executions.dropAll("the worker ends");
    // Processes of users' code get their time to end, unless a stop with `abort` is under way.
    const closed = pool.close();
    await Promise.race([closed, hurry.promise]);
    if (isHurried) await within(setTimer, HURRIED_CLOSE_MS, closed);
    then();
    connected.resolve();
    stopped.resolve();
  }
}
