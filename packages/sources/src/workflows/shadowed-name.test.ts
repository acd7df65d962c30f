import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

function warningsOf(name: string, namespace = "default") {
  const source = `import { workflow } from "@engine/sdk";
export const w = workflow({ name: "${name}", namespace: "${namespace}" }, async () => 1);`;
  return extractWorkflows({ entry: "a.ts", files: [{ path: "a.ts", source }] }).warnings;
}

test.each(["health", "inspect", "workflows", "executions", "schedules", "workers"])(
  "EXE-89 a workflow named %s is warned of, since no basic route reaches it",
  (name) => {
    expect(warningsOf(name, "shop")).toEqual([
      expect.objectContaining({
        rule: "shadowed_name",
        workflow: `shop/${name}`,
        path: "workflows[0].name",
        message: expect.stringContaining(`POST /workflows/shop/${name}/run/sync`),
      }),
    ]);
  },
);

test("EXE-89 any other name is no warning", () => {
  for (const name of ["hello", "healthy", "inspect_order", "Health"]) {
    expect(warningsOf(name)).toEqual([]);
  }
});
