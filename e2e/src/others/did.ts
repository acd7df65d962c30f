/**
 * What tasks of programs tell the outside: a note for each time that one begins. It also ends the
 * process there when it is told to. Runs inside of workers, on their threads.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskContext } from "@engine/sdk";

/** The folder that worker and judge share. */
export const FOLDER = "OTHERS_FOLDER";
/** Below it: a file of notes for each execution. */
export const NOTES = "notes";
/** The number of the note, of each execution, at which its process is to die; 0: of none. */
export const DEADLY = "deadly";
/** The same, in front of the number, where it is to die without waiting for others. */
export const AT_ONCE = "at once ";
/** A file for each execution that has come to that note. */
export const DOOMED = "doomed";
/** How often the doomed were told to die. */
export const DEATHS = "deaths";

export interface Note {
  readonly execution: string;
  readonly call: string;
  readonly attempt: number;
  readonly note: string;
  readonly pid: number;
  /** Of a worker's runner process: the worker. */
  readonly ppid: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const AGAIN_MS = 15;

type Caller = Pick<TaskContext, "executionId" | "taskCallId" | "attempt">;

/**
 * Notes that a task has begun. When this note is the deadly one the process ends, at once or with
 * others that are waited for, so that one death serves many.
 */
export async function did(ctx: Caller, note: string): Promise<void> {
  const folder = process.env[FOLDER];
  if (folder === undefined) return;
  const deadly = readFileSync(join(folder, DEADLY), "utf8");
  if (!isDeadly(folder, ctx, note, Number(deadly.replace(AT_ONCE, "")))) return;
  if (deadly.startsWith(AT_ONCE)) process.kill(process.pid, "SIGKILL");
  const deaths = deathsIn(folder);
  while (deathsIn(folder) === deaths) await sleep(AGAIN_MS);
  process.kill(process.pid, "SIGKILL");
}

/** Writes the note; says whether its process is to die, which it is once for each execution. */
function isDeadly(folder: string, ctx: Caller, note: string, entry: number): boolean {
  if (noted(folder, ctx, note) !== entry) return false;
  const mine = join(folder, DOOMED, ctx.executionId);
  if (existsSync(mine)) return false;
  writeFileSync(mine, `${process.pid}`);
  return true;
}

/** Gives the number of the note among those of its execution. */
function noted(folder: string, { executionId, taskCallId, attempt }: Caller, note: string): number {
  const file = join(folder, NOTES, executionId);
  const { pid, ppid } = process;
  const line: Note = {
    ...{ execution: executionId, call: taskCallId, attempt, note, pid, ppid },
    at: Date.now(),
  };
  // One write to a file opened for appending: lines of several processes never mix.
  appendFileSync(file, `${JSON.stringify(line)}\n`);
  return readFileSync(file, "utf8").split("\n").length - 1;
}

function deathsIn(folder: string): number {
  return Number(readFileSync(join(folder, DEATHS), "utf8"));
}
