import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Config } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { executionId } from "../conformance/sample.ts";
import { smallDisk } from "../testing/small-disk.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { fileValues } from "./file-values.ts";
import { openValueStore } from "./open-value-store.ts";

const folder = temporaryFolder();
const disk = smallDisk("size=4m");

const id = executionId(1);
const MIB = 1 << 20;

function filesIn(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

test.skipIf(disk === undefined)(
  "EXE-49 a value that does not fit leaves nothing behind, however often it is tried",
  async () => {
    if (!disk) return;
    onTestFinished(() => disk.remove());
    const values = fileValues(join(disk.path, "values"));
    const small = await values.save(id, "x".repeat(MIB));
    const error = { code: "unavailable", message: expect.stringContaining("its disk is full") };
    for (let attempt = 0; attempt < 5; attempt++) {
      await expect(values.save(id, "y".repeat(8 * MIB))).rejects.toMatchObject(error);
    }
    expect(filesIn(disk.path)).toHaveLength(1);
    // Two at once, each of which would fit alone: the check of either sees room enough.
    const both = ["a", "b"].map((letter) => values.save(id, letter.repeat(2 * MIB)));
    const settled = await Promise.allSettled(both);
    expect(settled.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
    const kept = settled.filter(({ status }) => status === "fulfilled").length;
    expect(filesIn(disk.path)).toHaveLength(1 + kept);
    expect((await values.load(small.reference_id)).length).toBe(MIB);
    // It goes on by itself once there is room.
    disk.remount("size=32m");
    const large = await values.save(id, "y".repeat(8 * MIB));
    expect((await values.load(large.reference_id)).length).toBe(8 * MIB);
  },
);

test("EXE-49 the same value saved at the same time is written once", async () => {
  const path = join(folder, "same");
  const values = fileValues(path);
  const saved = await Promise.all([1, 2, 3].map(() => values.save(id, "the same")));
  expect(new Set(saved.map(({ reference_id }) => reference_id)).size).toBe(1);
  expect(filesIn(path)).toHaveLength(1);
});

test("what a crash left half written is gone at the next start, and what is complete stays", async () => {
  const home = join(folder, "crashed");
  const path = join(home, "values");
  const before = fileValues(path);
  const { reference_id } = await before.save(id, "complete");
  mkdirSync(join(path, ".writing"), { recursive: true });
  writeFileSync(join(path, ".writing", "half.of.it"), "hal");
  const values = await openValueStore(Config.parse({ home }));
  expect(filesIn(path)).toEqual([reference_id.split("/")[1]]);
  expect(await values.load(reference_id)).toBe("complete");
});

test("a value whose half was swept by another server's start is written again", async () => {
  const path = join(folder, "shared");
  const values = fileValues(path);
  let swept = 0;
  const saving = values.save(id, "z".repeat(4 * MIB));
  const sweeper = setInterval(() => {
    if (swept >= 1) return;
    const unfinished = join(path, ".writing");
    const found = existsSync(unfinished) ? readdirSync(unfinished) : [];
    for (const name of found) {
      rmSync(join(path, ".writing", name));
      swept++;
    }
  });
  onTestFinished(() => clearInterval(sweeper));
  const { reference_id } = await saving;
  expect(swept).toBe(1);
  expect((await values.load(reference_id)).length).toBe(4 * MIB);
});
