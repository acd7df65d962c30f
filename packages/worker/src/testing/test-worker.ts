import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveConfig, type WorkerProtocol } from "@engine/contract";
import { machineTime } from "@engine/sdk/node";
import { type RunningWorker, startWorker } from "../start-worker.ts";
import type { WorkerOptions } from "../worker-options.ts";
import type { ManualTime } from "./manual-time.ts";
import { setTimer } from "./set-timer.ts";

export interface TestWorker extends RunningWorker, AsyncDisposable {
  readonly home: string;
  /** Lines of its log, as `level message`. */
  readonly lines: string[];
  /** What it wanted its process to end with. */
  readonly exits: { code: number; message: string }[];
}

interface TestWorld extends Pick<WorkerOptions, "values" | "dispatch"> {
  /** Instead of that of the process. */
  readonly time?: ManualTime;
  readonly random?: () => number;
}

/** A worker in a home of its own, which is removed with it. */
export async function startTestWorker(
  link: WorkerProtocol,
  overrides: Record<string, unknown> = {},
  { values, dispatch, time, random = Math.random }: TestWorld = {},
): Promise<TestWorker> {
  const began = machineTime();
  const home = mkdtempSync(join(tmpdir(), "engine-worker-"));
  const { config } = resolveConfig({ flags: { home, workers: { threads: 1, ...overrides } } });
  if (!config) throw new Error("the test's configuration is wrong");
  const lines: string[] = [];
  const exits: TestWorker["exits"] = [];
  const line = (level: string) => (details: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(details)}`);
  const remove = () => rmSync(home, { recursive: true, force: true });
  const worker = await startWorker({
    name: "worker",
    link,
    config: { ...config.workers, home },
    log: {
      debug: line("debug"),
      info: line("info"),
      warn: line("warn"),
      error: line("error"),
    },
    clock: Date.now,
    // Runners go by the machine's own.
    monotonic: () => (time ? began + time.monotonic() : machineTime()),
    ids: randomUUID,
    setTimer: time?.setTimer ?? setTimer,
    random,
    ...(values && { values }),
    ...(dispatch && { dispatch }),
    exit: (code, message) => void exits.push({ code, message }),
  }).catch((error) => {
    remove();
    throw error;
  });
  return {
    ...worker,
    home,
    lines,
    exits,
    async [Symbol.asyncDispose]() {
      await worker.stop({ abort: true });
      remove();
    },
  };
}
