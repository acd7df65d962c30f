import { expect, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";

const LIMITED = `import { workflow } from "@engine/sdk";
import { concurrency, input, limit } from "@engine/sdk/routing";
export const summary = workflow(
  { name: "summary", limits: [concurrency(3), limit("openai"), limit("maps", { key: input("city") })] },
  async (input) => input,
);
`;

test("FLW-3 a registration warns of limits that nobody has set, at their place, and takes the file", async () => {
  await using t = await TestEngine.start();
  const register = () => t.engine.catalog.register({ source: LIMITED }, { by: null });
  const { items, warnings } = await register();
  expect(items).toMatchObject([{ name: "summary", version: 1 }]);
  expect(warnings).toMatchObject([
    { rule: "limit_undefined", path: "workflows[0].limits", line: 4 },
    { rule: "limit_undefined", message: expect.stringContaining("npx engine limit set maps") },
  ]);
  await t.store.limits.set("openai", { concurrency: 5, rate: null });
  expect((await register()).warnings).toMatchObject([
    { message: expect.stringMatching(/no limit maps yet/) },
  ]);
});
