import { mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { modulesFolder } from "./modules-folder.ts";

test("workers that start at the same moment in a home that is not there yet all find their folder", async () => {
  const above = realpathSync(mkdtempSync(join(tmpdir(), "engine-home-")));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  for (let round = 0; round < 20; round++) {
    const home = join(above, `${round}/deep/home`);
    const found = await Promise.all(Array.from({ length: 8 }, () => modulesFolder(home)));
    expect(new Set(found)).toEqual(new Set([join(home, "modules")]));
    expect(statSync(join(home, "modules")).isDirectory()).toBe(true);
  }
});

test.runIf(process.platform === "linux")(
  "where the folder above takes none, an answer comes at once",
  async () => {
    await expect(modulesFolder("/proc/engine/home")).rejects.toThrow(
      "the folder /proc/engine/home/modules cannot be made (ENOENT); choose a place that can be written with ENGINE_HOME",
    );
  },
);
