import { readFile } from "node:fs/promises";

/** One run of a task body, as it wrote it itself. */
export interface BodyRun {
  readonly attempt: number;
  readonly pid: number;
  /** When the body began, milliseconds since 1970. */
  readonly at: number;
}

/** Body runs by execution, then by call, each in the order they began. */
export type BodyRuns = ReadonlyMap<string, ReadonlyMap<string, readonly BodyRun[]>>;

export async function readBodyRuns(file: string): Promise<BodyRuns> {
  const runs = new Map<string, Map<string, BodyRun[]>>();
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  for (const line of lines) {
    const [execution, call, attempt, pid, at] = line.split(" ");
    if (!execution || !call || !at) throw new Error(`not a line of a body: "${line}"`);
    const calls = runs.get(execution) ?? new Map<string, BodyRun[]>();
    runs.set(execution, calls);
    const run = { attempt: Number(attempt), pid: Number(pid), at: Number(at) };
    calls.set(
      call,
      [...(calls.get(call) ?? []), run].sort((a, b) => a.at - b.at),
    );
  }
  return runs;
}
