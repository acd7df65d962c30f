import { readFileSync } from "node:fs";

/** How many files and connections a process of Node may have open; undefined where nobody says. */
export function mostOpenFiles(): number | undefined {
  try {
    // Node raises what it may have to the hard limit by itself, which is the second one.
    const limits = readFileSync("/proc/self/limits", "utf8");
    const most = Number(/^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1]);
    return Number.isNaN(most) ? undefined : most;
  } catch {
    return undefined;
  }
}
