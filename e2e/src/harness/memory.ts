import { readFile } from "node:fs/promises";

/** Bytes of a process in memory; undefined where the system does not tell. */
async function resident(pid: number | undefined): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => undefined);
  return text === undefined ? undefined : Number(/^VmRSS:\s*(\d+)/m.exec(text)?.[1]) * 1024;
}

/** What a process takes more than before while something happens, at most. */
export async function grown(pid: number | undefined, during: () => Promise<void>): Promise<number> {
  const before = (await resident(pid)) ?? 0;
  let most = before;
  const look = setInterval(() => {
    void resident(pid).then((bytes = 0) => {
      most = Math.max(most, bytes);
    });
  }, 50);
  try {
    await during();
  } finally {
    clearInterval(look);
  }
  return most - before;
}
