import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { workflowFinder } from "./find-workflow-files.ts";

const FLOW =
  'import { workflow } from "@engine/sdk";\nexport const a = workflow({ name: "a" }, async () => 1);\n';

function project(): string {
  const folder = temporaryFolder({
    "flow.ts": FLOW,
    "flow.test.ts": FLOW,
    "types.d.ts": FLOW,
    "tasks.ts":
      'import { task } from "@engine/sdk";\nexport const t = task({ name: "t" }, async () => 1);\n',
    "other.ts": "export const workflow = (x: unknown) => x; workflow(1);\n",
    "deep/flow.ts": FLOW,
    "deep/dist/flow.ts": FLOW,
    "node_modules/x/flow.ts": FLOW,
  });
  onTestFinished(() => folder.remove());
  return folder.path;
}

test("without arguments, the workflow files of the current folder itself are found", () => {
  const cwd = project();
  expect(workflowFinder([], cwd)()).toEqual({ files: [join(cwd, "flow.ts")], folders: [cwd] });
});

test("a folder is searched with what lies below it, but not dist, node_modules and tests", () => {
  const cwd = project();
  expect(workflowFinder(["."], cwd)()).toEqual({
    files: [join(cwd, "deep/flow.ts"), join(cwd, "flow.ts")],
    folders: [cwd, join(cwd, "deep")],
  });
});

test("a file that is named is taken as it is; one that does not exist is a usage error", () => {
  const cwd = project();
  expect(workflowFinder(["tasks.ts", "./tasks.ts"], cwd)().files).toEqual([join(cwd, "tasks.ts")]);
  expect(() => workflowFinder(["gone.ts"], cwd)).toThrow(/gone\.ts does not exist/);
});

test("a file that is written, renamed or gives up its workflow is found as it is now", () => {
  const cwd = project();
  const find = workflowFinder(["deep"], cwd);
  expect(find().files).toEqual([join(cwd, "deep/flow.ts")]);
  writeFileSync(join(cwd, "deep/new.ts"), FLOW);
  renameSync(join(cwd, "deep/flow.ts"), join(cwd, "deep/renamed.ts"));
  expect(find().files).toEqual([join(cwd, "deep/new.ts"), join(cwd, "deep/renamed.ts")]);
  writeFileSync(join(cwd, "deep/new.ts"), "export const nothing = 1;\n");
  expect(find().files).toEqual([join(cwd, "deep/renamed.ts")]);
});

test("a link to a file counts, but not a second time; a link to a folder is not followed", () => {
  const cwd = project();
  symlinkSync(join(cwd, "deep/dist/flow.ts"), join(cwd, "deep/link.ts"));
  symlinkSync(join(cwd, "deep/link.ts"), join(cwd, "deep/other.ts"));
  symlinkSync(cwd, join(cwd, "deep/around"));
  symlinkSync(join(cwd, "nowhere.ts"), join(cwd, "deep/dangling.ts"));
  expect(workflowFinder(["deep"], cwd)().files).toEqual([
    join(cwd, "deep/flow.ts"),
    join(cwd, "deep/link.ts"),
  ]);
});
