import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { ExecutionSummary } from "@engine/contract";
import type { Replayed } from "../replay/replayed.ts";

/** What the thread is started with. */
export interface CheckTask {
  readonly baseUrl: string;
  /** With which the process calls itself, where that is asked for. */
  readonly token?: string;
  /** The code to try: a file with the bundle. */
  readonly file: string;
  readonly workflow: string;
  readonly executions: readonly ExecutionSummary[];
}

/** What the thread says. */
export type CheckMessage =
  | { readonly kind: "replayed"; readonly replayed: Replayed }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "done" };

export interface CheckResult {
  readonly replayed: readonly Replayed[];
  /** Why it ended early, when it did. */
  readonly failed: string | undefined;
}

const fromSources = import.meta.url.endsWith(".ts");
const program = new URL(fromSources ? "./replay-thread.ts" : "./replay-thread.js", import.meta.url);

/**
 * Replays executions on a bundle, on a thread of its own: code that was saved a moment ago may loop
 * for ever or end its process, and the server runs in this one.
 *
 * @param stop Ends it early; what was replayed until then is the result.
 */
export async function replayOnThread(
  bundle: string,
  task: Omit<CheckTask, "file">,
  stop: Promise<void>,
): Promise<CheckResult> {
  const folder = mkdtempSync(join(tmpdir(), "engine-dev-"));
  try {
    const file = join(folder, `${randomBytes(6).toString("hex")}.mjs`);
    writeFileSync(file, bundle);
    return await watched({ ...task, file }, stop);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function watched(task: CheckTask, stop: Promise<void>): Promise<CheckResult> {
  const replayed: Replayed[] = [];
  let failed: string | undefined;
  let isDone = false;
  const ended = Promise.withResolvers<void>();
  const thread = new Worker(program, {
    workerData: task,
    env: withoutEngine(process.env),
    // What a body prints was printed when it ran.
    stdout: true,
    stderr: true,
    ...(fromSources && { execArgv: ["--conditions=@engine/source"] }),
  });
  thread.stdout.resume();
  thread.stderr.resume();
  thread.on("message", (message: CheckMessage) => {
    if (message.kind === "replayed") replayed.push(message.replayed);
    if (message.kind === "failed") failed = message.message;
    if (message.kind !== "done") return;
    isDone = true;
    ended.resolve();
  });
  thread.on("error", (error) => {
    failed = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  });
  thread.on("exit", () => {
    // It may come in the same moment as the last message; after a stop the result is complete.
    if (!isDone) failed ??= "its code ended the thread it ran on";
    ended.resolve();
  });
  await Promise.race([ended.promise, stop]);
  const result = { replayed: [...replayed], failed };
  await thread.terminate();
  return result;
}

/** AUTH-55: credentials and configuration of the engine stay on the main thread. */
function withoutEngine(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("ENGINE_")));
}
