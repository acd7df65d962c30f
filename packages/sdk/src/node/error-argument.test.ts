import { decode } from "@engine/contract";
import { expect, test } from "vitest";
import { pause, task, workflow } from "../index.ts";
import { run } from "./testing/run-in-memory.ts";

test("EXE-29 EXE-35 an error that is handed on is the same argument on a replay, whatever its stack says there", async () => {
  const stacks: (string | undefined)[] = [];
  const fails = task({ name: "fails" }, async () => {
    throw new RangeError("too far", { cause: new Error("the map ends here") });
  });
  const report = task({ name: "report" }, async (error: Error) => error.message);
  const wf = workflow({ name: "w" }, async () => {
    const caught = await fails().catch((error: Error) => error);
    const own = new Error("made here");
    stacks.push(own.stack);
    const reported = [await report(caught as Error), await report(own)];
    await pause("p");
    return reported;
  });
  const execution = await run(wf);
  execution.resume(null);
  await fromElsewhere(() => execution.run());
  expect(execution.row).toMatchObject({
    state: "COMPLETED",
    output: ["too far", "made here"],
  });
  expect(execution.types).not.toContain("WORKFLOW_WARNING");
  expect(new Set(stacks).size, "the stacks have to differ for this to say something").toBe(2);
  const given = execution.events.filter(({ type }) => type === "TASK_STARTED");
  expect(JSON.stringify(given.map(({ value }) => decode(value)))).not.toContain("error-argument");
});

/** As in a process where engines print shorter stacks. */
async function fromElsewhere(then: () => Promise<unknown>): Promise<void> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 1;
  try {
    await then();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
