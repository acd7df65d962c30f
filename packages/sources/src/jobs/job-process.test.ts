import { expect, test, vi } from "vitest";
import { JobProcess } from "./job-process.ts";

/** What the program of these tests does with a job. */
type Job = { say: string } | { spin: true } | { fill: true } | { fail: string } | { exit: true };

// Processes are started here, on a machine that may do other things.
vi.setConfig({ testTimeout: 60_000 });

const program = new URL("./testing/echo-main.ts", import.meta.url);
const limits = { program, memoryMb: 64, limitMs: 60_000, idleMs: 60_000 };

/** Also a busy machine starts the next process in that time. */
const MOMENT_MS = 8_000;

function opened(over: Partial<typeof limits> = {}): JobProcess<Job, string> {
  return new JobProcess<Job, string>({ ...limits, ...over });
}

test("a job is answered, or fails with what it threw", async () => {
  const jobs = opened();
  expect(await jobs.run({ say: "a" })).toEqual({ kind: "done", answer: "a" });
  await expect(jobs.run({ fail: "no" })).rejects.toThrow("no");
  expect(await jobs.run({ say: "b" })).toEqual({ kind: "done", answer: "b" });
});

test("a job that takes longer or more memory than it may is ended, and the next one runs", async () => {
  for (const [job, of] of [
    [{ spin: true }, "time"],
    [{ fill: true }, "memory"],
  ] as const) {
    const jobs = opened({ limitMs: of === "time" ? MOMENT_MS : 60_000 });
    expect(await jobs.run(job)).toEqual({ kind: "spent", of });
    expect(await jobs.run({ say: "a" })).toEqual({ kind: "done", answer: "a" });
  }
});

test("a process that dies fails its job alone", async () => {
  const jobs = opened();
  const dying = jobs.run({ exit: true });
  const waiting = jobs.run({ say: "a" });
  await expect(dying).rejects.toThrow("ended with 3");
  expect(await waiting).toEqual({ kind: "done", answer: "a" });
});

test("lines take turns, however many jobs wait in one of them", async () => {
  const jobs = opened();
  const order: string[] = [];
  const run = async (say: string, line: string) => {
    await jobs.run({ say }, line);
    order.push(say);
  };
  const all = [run("a1", "a"), run("a2", "a"), run("a3", "a"), run("b1", "b")];
  expect(jobs.waiting("a")).toBe(2);
  await Promise.all(all);
  expect(order).toEqual(["a1", "a2", "b1", "a3"]);
});

test("a process without work ends, and the next job has a new one", async () => {
  const jobs = opened({ idleMs: 1 });
  for (const say of ["a", "b"]) {
    expect(await jobs.run({ say })).toEqual({ kind: "done", answer: say });
    while (jobs.isAlive) await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
