import { expect, test } from "vitest";
import type { Mode } from "./modes.ts";
import { PROGRAMS } from "./programs/all.ts";
import { type Judged, type ModeOptions, runMode } from "./run-mode.ts";

const LIMIT_MS = 900_000;
/** On PostgreSQL so many of them are not killed for one that is; the command kills all. */
const SAMPLE = 3;
const ALL = Object.entries(PROGRAMS);

/** What is wrong, with the logs of it; `npm run others -- --only <name> --mode <mode>` does one again. */
function told(judged: readonly Judged[]): string {
  const wrong = judged.filter((one) => one.wrong.length > 0);
  return wrong.map(({ name, wrong, story }) => [name, ...wrong, story].join("\n")).join("\n\n");
}

async function judgedIn(mode: Mode, options: Partial<ModeOptions> = {}): Promise<string> {
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const all = { store: "sqlite", programs: ALL, together: 64 } as const;
  const judged = await runMode({ ...all, mode, say, ...options });
  // A run of nothing would prove nothing.
  expect(judged.length).toBeGreaterThan(10);
  return told(judged);
}

test("I1 I2 I3 I4 I5 I7 I9 I10 I11 I17 programs that people rely on elsewhere end as they must, and their histories replay", {
  timeout: LIMIT_MS,
}, async () => {
  expect(await judgedIn("plain")).toBe("");
});

test("I4 I7 I9 I10 I11 EXE-27 EXE-31 the same where every wait ends with a replay on either of two workers", {
  timeout: LIMIT_MS,
}, async () => {
  expect(await judgedIn("cold")).toBe("");
});

test("I1 I4 I5 I9 I17 EXE-20 the same when the worker is killed in the first, the second and the fourth task", {
  timeout: LIMIT_MS,
}, async () => {
  expect(await judgedIn("killed", { entries: [1, 2, 4], together: ALL.length })).toBe("");
});

test("I5 I9 EXE-20 what the first task was told is still so when the worker dies in its first line", {
  timeout: LIMIT_MS,
}, async () => {
  expect(await judgedIn("struck", { entries: [1] })).toBe("");
});

test("I4 I5 I9 I17 WRK-12 the same programs while one of two workers after the other drains", {
  timeout: LIMIT_MS,
}, async () => {
  expect(await judgedIn("drained")).toBe("");
});

test("I1 I4 I5 I7 I9 I10 I11 I17 the same programs on PostgreSQL", {
  timeout: LIMIT_MS,
}, async () => {
  expect(await judgedIn("plain", { store: "postgres" })).toBe("");
});

test(`I1 I4 I5 I9 I17 EXE-20 one program in ${SAMPLE} on PostgreSQL, its worker killed in the first task`, {
  timeout: LIMIT_MS,
}, async () => {
  const programs = ALL.filter((_, i) => i % SAMPLE === 0);
  const options = { store: "postgres", programs, entries: [1], together: ALL.length } as const;
  expect(await judgedIn("killed", options)).toBe("");
});
