import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processPorts } from "../io/process-ports.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { isSavedSince, stampOf } from "../workflow-file/file-stamp.ts";
import { workflowFinder } from "../workflow-file/find-workflow-files.ts";
import type { RegisterOutcome } from "../workflow-file/register-file.ts";
import { DevFiles } from "./dev-files.ts";
import { WatchLoop } from "./watch-loop.ts";

const FLOW =
  'import { workflow } from "@engine/sdk";\nexport const a = workflow({}, async () => 1);\n';

interface Watched {
  readonly folder: string;
  /** Paths in the order they were registered in, with what they are asked to be told apart by. */
  readonly registered: string[];
  /** Resolves when so many registrations were made in all. */
  registrations(count: number): Promise<void>;
}

/** A loop over a real folder; a registration only notes the file. */
async function watched(files: Record<string, string>): Promise<Watched> {
  const { path: folder, remove } = temporaryFolder(files);
  const registered: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const devFiles = new DevFiles({
    find: workflowFinder(["."], folder),
    stamp: stampOf,
    isSavedSince,
    clock: Date.now,
    async register(path): Promise<RegisterOutcome> {
      registered.push(path.slice(folder.length + 1));
      for (const { count, resolve } of waiting) if (registered.length >= count) resolve();
      return { registered: { items: [], warnings: [] }, problems: [], inputs: [path], bundle: "" };
    },
  });
  await devFiles.look();
  const loop = new WatchLoop({
    files: devFiles,
    clock: Date.now,
    // Without the looks that come by themselves, a report is the only reason for one.
    setTimer: (run, ms) => (ms < 1000 ? processPorts.setTimer(run, ms) : () => {}),
    report() {},
    failed: (message) => registered.push(message),
  });
  onTestFinished(async () => {
    await loop.close();
    remove();
  });
  const registrations = (count: number) =>
    new Promise<void>((resolve) => {
      waiting.push({ count, resolve });
      if (registered.length >= count) resolve();
    });
  return { folder, registered, registrations };
}

test("EXE-95 a save in place, one by rename, a new file and one in a new folder are all noticed", async () => {
  const { folder, registered, registrations } = await watched({ "flow.ts": FLOW });
  writeFileSync(join(folder, "flow.ts"), `${FLOW}\n`);
  await registrations(2);
  writeFileSync(join(folder, ".flow.ts.swp"), FLOW);
  renameSync(join(folder, ".flow.ts.swp"), join(folder, "flow.ts"));
  await registrations(3);
  writeFileSync(join(folder, "new.ts"), FLOW);
  await registrations(4);
  mkdirSync(join(folder, "deep/er"), { recursive: true });
  writeFileSync(join(folder, "deep/er/flow.ts"), FLOW);
  await registrations(5);
  writeFileSync(join(folder, "deep/er/flow.ts"), `${FLOW}\n`);
  await registrations(6);
  expect(registered).toEqual([
    "flow.ts",
    "flow.ts",
    "flow.ts",
    "new.ts",
    "deep/er/flow.ts",
    "deep/er/flow.ts",
  ]);
});

test("EXE-95 a burst of saves is one registration of each file", async () => {
  const { folder, registered, registrations } = await watched({ "a.ts": FLOW, "b.ts": FLOW });
  for (let save = 1; save <= 20; save++) {
    for (const file of ["a.ts", "b.ts"])
      writeFileSync(join(folder, file), FLOW + "\n".repeat(save));
  }
  await registrations(4);
  writeFileSync(join(folder, "last.ts"), FLOW);
  await registrations(5);
  expect(registered).toEqual(["a.ts", "b.ts", "a.ts", "b.ts", "last.ts"]);
});

test("a folder that was deleted and made again is watched again", async () => {
  const { folder, registered, registrations } = await watched({
    "flow.ts": FLOW,
    "deep/flow.ts": FLOW,
  });
  rmSync(join(folder, "deep"), { recursive: true });
  writeFileSync(join(folder, "flow.ts"), `${FLOW}\n`);
  await registrations(3);
  mkdirSync(join(folder, "deep"));
  writeFileSync(join(folder, "deep/flow.ts"), `${FLOW}\n`);
  await registrations(4);
  writeFileSync(join(folder, "deep/flow.ts"), `${FLOW}\n\n`);
  await registrations(5);
  expect(registered.slice(2)).toEqual(["flow.ts", "deep/flow.ts", "deep/flow.ts"]);
});

test("EXE-95 what no report tells of is found by looking now and then", async () => {
  let stamp = 1;
  let now = 0;
  const saved = Promise.withResolvers<void>();
  const timers: { run: () => void; at: number }[] = [];
  const files = new DevFiles({
    find: () => ({ files: ["/nowhere/flow.ts"], folders: ["/nowhere"] }),
    stamp: () => `${stamp}`,
    isSavedSince: () => false,
    clock: () => now,
    async register(path) {
      if (stamp > 1) saved.resolve();
      return { registered: { items: [], warnings: [] }, problems: [], inputs: [path], bundle: "" };
    },
  });
  await files.look();
  const loop = new WatchLoop({
    files,
    clock: () => now,
    setTimer(run, ms) {
      const timer = { run, at: now + ms };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
    report() {},
    failed: (message) => saved.reject(new Error(message)),
  });
  const turn = async () => {
    const [timer] = timers.splice(0, 1);
    now = timer?.at ?? now;
    timer?.run();
    await new Promise((resolve) => setImmediate(resolve));
  };
  await turn();
  stamp = 2;
  await turn();
  await saved.promise;
  expect(now).toBeLessThanOrEqual(1000);
  await loop.close();
});

test("a look that fails is told once, and the next one sees what was saved", async () => {
  let isBroken = true;
  const failures: string[] = [];
  const found = Promise.withResolvers<string>();
  const files = new DevFiles({
    find() {
      if (isBroken) throw new Error("too many open files");
      return { files: ["/nowhere/flow.ts"], folders: [] };
    },
    stamp: () => "1",
    isSavedSince: () => false,
    clock: Date.now,
    async register(path) {
      found.resolve(path);
      return { problems: [], inputs: [path] };
    },
  });
  const timers: (() => void)[] = [];
  const loop = new WatchLoop({
    files,
    clock: Date.now,
    setTimer(run) {
      timers.push(run);
      return () => {};
    },
    report() {},
    failed: (message) => failures.push(message),
  });
  for (let looks = 0; looks < 3; looks++) {
    timers.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(failures).toEqual(["too many open files"]);
  isBroken = false;
  timers.shift()?.();
  expect(await found.promise).toBe("/nowhere/flow.ts");
  await loop.close();
});
