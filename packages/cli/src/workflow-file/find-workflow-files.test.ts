import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { findWorkflowFiles } from "./find-workflow-files.ts";

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
  expect(findWorkflowFiles([], cwd)).toEqual([{ path: join(cwd, "flow.ts"), named: false }]);
});

test("a folder is searched with what lies below it, but not dist, node_modules and tests", () => {
  const cwd = project();
  expect(findWorkflowFiles(["."], cwd).map(({ path }) => path)).toEqual([
    join(cwd, "deep/flow.ts"),
    join(cwd, "flow.ts"),
  ]);
});

test("a file that is named is taken as it is; one that does not exist is a usage error", () => {
  const cwd = project();
  expect(findWorkflowFiles(["tasks.ts"], cwd)).toEqual([
    { path: join(cwd, "tasks.ts"), named: true },
  ]);
  expect(() => findWorkflowFiles(["gone.ts"], cwd)).toThrow(/gone\.ts does not exist/);
});
