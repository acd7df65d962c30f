import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { withFileLock } from "./file-lock.ts";
import { WaitingTime } from "./testing/waiting-time.ts";

function lockPath(): { readonly path: string; readonly folder: string } {
  const { path: folder, remove } = temporaryFolder({});
  onTestFinished(remove);
  return { folder, path: join(folder, "it.lock") };
}

const heldBy = (owner: object) => JSON.stringify({ host: hostname(), id: "x", ...owner });

/** Of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ["-e", ""]).pid;
}

/** Runs under the lock many times at once; the most that ran at the same time. */
async function crowd(path: string, time: WaitingTime, number = 20): Promise<number> {
  let [running, most] = [0, 0];
  const one = () =>
    withFileLock(path, time, async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    });
  await Promise.all(Array.from({ length: number }, one));
  return most;
}

test("AUTH-61 what is done under a file lock is done by one at a time, and leaves nothing behind", async () => {
  const { path, folder } = lockPath();
  expect(await crowd(path, new WaitingTime())).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

test("AUTH-61 what fails under a lock frees it", async () => {
  const { path } = lockPath();
  const work = () => Promise.reject(new Error("no"));
  await expect(withFileLock(path, new WaitingTime(), work)).rejects.toThrow("no");
  expect(existsSync(path)).toBe(false);
});

test("AUTH-61 a lock whose holder lives is waited for", async () => {
  const { path } = lockPath();
  writeFileSync(path, heldBy({ pid: process.pid }));
  const time = new WaitingTime(
    (waits) => waits === 3 && writeFileSync(path, heldBy({ pid: deadPid() })),
  );
  expect(await withFileLock(path, time, async () => "done")).toBe("done");
  expect(time.waits).toEqual([50, 50, 50]);
});

test.each([
  ["a process that has ended", () => heldBy({ pid: deadPid() })],
  ["nobody for a minute", () => ""],
  ["a process of another machine for a minute", () => heldBy({ pid: 1, host: "elsewhere" })],
  ["something else for a minute", () => "null"],
])("AUTH-61 a lock held by %s is taken over, by one of many", async (_, text) => {
  const { path, folder } = lockPath();
  writeFileSync(path, text());
  expect(await crowd(path, new WaitingTime())).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

test("AUTH-61 a crash while a stale lock was removed hinders nobody", async () => {
  const { path, folder } = lockPath();
  const left = heldBy({ pid: deadPid() });
  writeFileSync(path, left);
  writeFileSync(`${path}.removing`, left);
  expect(await crowd(path, new WaitingTime())).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

test("AUTH-61 a lock that somebody holds on and on is an error that says what to do", async () => {
  const { path } = lockPath();
  const texts = Array.from({ length: 5 }, (_, id) => heldBy({ pid: process.pid, id }));
  const hold = (number: number) => writeFileSync(path, texts[number] ?? expect.unreachable());
  hold(0);
  // Ten seconds pass at a time, and each holder has it for fifty.
  const time: WaitingTime = new WaitingTime((waits) => {
    time.now += 9_950;
    hold(Math.floor(waits / 5));
  });
  await expect(withFileLock(path, time, async () => {})).rejects.toMatchObject({
    code: "conflict",
    message: `another engine command has held ${path} for 180 seconds; remove that file if none is running`,
  });
  expect(readFileSync(path, "utf8")).toBe(texts[3]);
});

test("AUTH-61 a lock that another took over meanwhile is left to it", async () => {
  const { path } = lockPath();
  const other = heldBy({ pid: process.pid });
  await withFileLock(path, new WaitingTime(), async () => writeFileSync(path, other));
  expect(readFileSync(path, "utf8")).toBe(other);
});
