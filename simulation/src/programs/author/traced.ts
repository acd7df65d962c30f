/** What functions of tasks leave behind on real processes: lines of a file that outlives any of them. */
import type { BodyCall, RunningBody } from "../program-port.ts";
import { digest } from "./digest.ts";

const files = process.getBuiltinModule("node:fs");
const { isMainThread } = process.getBuiltinModule("node:worker_threads");
/** The worker's: a runner process dies with it, and who it was is told while it lives. */
const workerPid = isMainThread && process.send !== undefined ? process.ppid : process.pid;

/** A function that begins. It writes that it did, and what it was told, before it does anything. */
export function traced(
  file: string,
  call: BodyCall,
  dies: "entry" | "exit" | undefined,
): RunningBody {
  const id = `${call.execution_id} ${call.task_call_id} ${call.part} ${call.attempt} ${crypto.randomUUID()}`;
  const write = (line: object) => {
    // One write of less than a page, at the end of the file: a kill loses the last line at most.
    files.appendFileSync(file, `${JSON.stringify({ id, at: Date.now(), ...line })}\n`);
  };
  const dieOnce = (when: "entry" | "exit") => {
    if (dies === when && isFirst(`${file}.${call.path}.died`)) process.kill(workerPid, "SIGKILL");
  };
  write({ kind: "entry", pid: workerPid, ...call });
  dieOnce("entry");
  const over = (how: string, value: unknown) => {
    write({ kind: "exit", how, value: shown(value), digest: digest(value) });
    dieOnce("exit");
  };
  return {
    wait: (ms, signal) => (ms > 0 ? waited(ms, signal) : Promise.resolve()),
    returned: (value) => over("returned", value),
    threw: (error) => over("threw", error instanceof Error ? error.message : String(error)),
  };
}

function shown(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 60) : Object.prototype.toString.call(value);
}

function waited(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

function isFirst(file: string): boolean {
  try {
    files.closeSync(files.openSync(file, "wx"));
    return true;
  } catch {
    return false;
  }
}
