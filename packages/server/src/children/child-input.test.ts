import { encode, type Json } from "@engine/contract";
import { expect, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";

const FAMILY = `import { workflow } from "@engine/sdk";
import * as z from "zod";
export const parent = workflow({ name: "parent" }, async (input) => input);
const In = z.object({ name: z.string(), at: z.date().optional(), count: z.int().optional() });
export const child = workflow({ name: "child", input: In }, async (input) => input);
`;

/** What happens when a parent calls the child with an input. */
async function calling(t: TestEngine, input: unknown) {
  await t.engine.catalog.register({ source: FAMILY }, { by: null });
  const worker = await t.worker();
  const { row } = await t.engine.executions.start({
    namespace: "default",
    workflow: "parent",
    input: null,
    trigger: { kind: "api" },
    by: null,
  });
  const start = encode({ workflow: "default/child", input, wait: true, detach: false }, "input");
  await worker.parked(await worker.next("assign"), [
    worker.callEvent("TASK_STARTED", "call~1", start as Json),
  ]);
  const next = await worker.next("assign");
  const page = { order: "created_asc", limit: 9, offset: 0 } as const;
  const children = await t.engine.executions.list({ ...page, parent_id: row.execution_id });
  return { next, children: children.items, parent: row.execution_id };
}

test("EXE-83 a call whose input the child's schema refuses fails by itself, and no child is made", async () => {
  await using t = await TestEngine.start();
  const { next, children, parent } = await calling(t, { name: 5, at: new Date(0) });
  expect(children).toEqual([]);
  expect(next).toMatchObject({ execution_id: parent, reason: "resume" });
  expect(next.history.events.find(({ type }) => type === "TASK_FAILED")).toMatchObject({
    source_id: "call~1",
    value: {
      type: "InvalidInputError",
      code: "invalid_input",
      retryable: false,
      message: "call of default/child: input.name: expected a string, got an integer",
      details: { issues: [{ path: "input.name", message: "expected a string, got an integer" }] },
    },
  });
});

test("EXE-83 a call may give its child what JSON lacks", async () => {
  await using t = await TestEngine.start();
  const input = { name: "ann", at: new Date(0), count: undefined };
  const { next, children } = await calling(t, input);
  expect(children).toHaveLength(1);
  expect(next).toMatchObject({ workflow: "child", input: encode(input, "input") });
});
