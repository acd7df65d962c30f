import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "engine-folder-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("a folder is made with those above it, and one that is there stays", () => {
  const path = join(folder(), "a/b/c");
  makeFolder(path);
  makeFolder(path);
  expect(statSync(path).isDirectory()).toBe(true);
});

test("below a file there is no folder, which is said with its name", () => {
  const home = folder();
  writeFileSync(join(home, "file"), "");
  expect(() => makeFolder(join(home, "file"))).toThrow(/file cannot be made \(EEXIST\); choose a/);
  expect(() => makeFolder(join(home, "file/home"))).toThrow(
    /file\/home cannot be made \(ENOTDIR\)/,
  );
});

test.runIf(process.platform === "linux")(
  "where the folder above takes none, an answer comes at once",
  () => {
    expect(() => makeFolder("/proc/engine/home")).toThrow(
      "the folder /proc/engine/home cannot be made (ENOENT); choose a place that can be written with ENGINE_HOME or the database's path",
    );
  },
);
