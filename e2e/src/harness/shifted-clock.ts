import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Env } from "./engine-access.ts";

/** Names the file that says by how much a process's clock is off. */
export const SHIFT_FILE = "E2E_SHIFT_FILE";

const PRELOAD = fileURLToPath(new URL("./shifted-date.ts", import.meta.url));

/** The clock of one process, which a test sets. */
export interface ShiftedClock {
  /** What the process is started with. */
  readonly env: Env;
  /** From the next reading on the clock is off by so much. */
  set(ms: number): void;
}

/** @param path A file of its own. */
export function shiftedClock(path: string, ms = 0): ShiftedClock {
  const set = (to: number) => writeFileSync(path, String(to));
  set(ms);
  return { env: { NODE_OPTIONS: `--import ${PRELOAD}`, [SHIFT_FILE]: path }, set };
}
