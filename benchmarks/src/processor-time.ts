import { readdirSync, readFileSync } from "node:fs";

/** Of `/proc`, which counts for programs in hundredths of a second on every machine. */
const MS_OF_TICK = 10;

/**
 * Milliseconds of processor time that everything below this process has taken until now: servers, workers
 * and databases, without this process, which makes the load. Undefined where there is no `/proc`.
 */
export function processorTime(): number | undefined {
  const children = new Map<number, number[]>();
  const taken = new Map<number, number>();
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return undefined;
  }
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const fields = statOf(pid);
    if (!fields) continue;
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    // Its own time for programs and for the kernel, and that of its children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    taken.set(pid, ticks * MS_OF_TICK);
  }
  if (!taken.has(process.pid)) return undefined;
  let sum = 0;
  const left = [...(children.get(process.pid) ?? [])];
  for (let pid = left.pop(); pid !== undefined; pid = left.pop()) {
    sum += taken.get(pid) ?? 0;
    left.push(...(children.get(pid) ?? []));
  }
  return sum;
}

/** What comes behind the name, which may hold anything; undefined once it has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
