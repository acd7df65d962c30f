import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveConfig, type WorkerProtocol } from "@engine/contract";
import { type RunningWorker, startWorker } from "../start-worker.ts";
import type { WorkerOptions } from "../worker-options.ts";
import type { SetTimer } from "../world.ts";

export const setTimer: SetTimer = (run, ms) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

export interface TestWorker extends RunningWorker, AsyncDisposable {
  readonly home: string;
  /** Lines of its log, as `level message`. */
  readonly lines: string[];
  /** What it wanted its process to end with. */
  readonly exits: { code: number; message: string }[];
}

/** A worker in a home of its own, which is removed with it. */
export async function startTestWorker(
  link: WorkerProtocol,
  overrides: Record<string, unknown> = {},
  { values }: Pick<WorkerOptions, "values"> = {},
): Promise<TestWorker> {
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
    ids: randomUUID,
    setTimer,
    random: Math.random,
    ...(values && { values }),
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
