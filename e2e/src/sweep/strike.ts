/**
 * How a sweep ends a process at a failpoint: the sweep writes names of failpoints into a file, and
 * the first process that comes by one of them takes it off the list and kills itself. Runs inside of
 * servers, workers and their threads.
 */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const ARMED = "armed";
export const REACHED = "reached";
export const STRUCK = "struck";

const seen = new Set<string>();

/** Says that this process has come by a failpoint, and ends it if that was wanted. */
export function strike(failpoint: string): void {
  const folder = process.env["SWEEP_FOLDER"];
  if (folder === undefined) return;
  if (!seen.has(failpoint)) {
    seen.add(failpoint);
    appendFileSync(join(folder, REACHED), `${failpoint}\n`);
  }
  const armed = join(folder, ARMED);
  if (!linesOf(armed).some((line) => firstOf(line) === failpoint)) return;
  const lines = takeLines(armed);
  const mine = lines?.find((line) => firstOf(line) === failpoint);
  if (!lines) return;
  const [, ...then] = mine?.split("\t") ?? [];
  const left = [...lines.filter((line) => line !== mine), ...then];
  writeFileSync(armed, left.map((line) => `${line}\n`).join(""));
  if (mine === undefined) return;
  appendFileSync(join(folder, STRUCK), `${process.pid}\t${Date.now()}\t${failpoint}\n`);
  process.kill(process.pid, "SIGKILL");
}

/** Nothing where there is no such file. */
export function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** A line holds a failpoint, and those that are armed once it was struck. */
function firstOf(line: string): string {
  return line.split("\t", 1)[0] ?? "";
}

/** Of several processes that come by at once one gets the list; the others come by again. */
function takeLines(armed: string): string[] | undefined {
  const mine = `${armed}.${process.pid}`;
  try {
    renameSync(armed, mine);
  } catch {
    return undefined;
  }
  return linesOf(mine);
}
