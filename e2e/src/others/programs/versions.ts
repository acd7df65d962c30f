/** Code that changes under a workflow, and copies that go on from a point of its log. */
import type { ExecutionRecord } from "@engine/contract";
import { call, pause, sleep, workflow } from "@engine/sdk";
import type { Outside } from "../outside.ts";
import type { Programs } from "../program.ts";
import { add, echo } from "./tasks.ts";

export const tariff = workflow({ name: "tariff" }, async () => {
  const answer = await pause("ask");
  return ["old", answer];
});

export const threeSteps = workflow({ name: "three_steps" }, async (by: number) => {
  const a = await add([0, by]);
  const b = await add([a, by]);
  return add([b, by]);
});

export const broken = workflow({ name: "broken" }, async () => {
  const a = await echo("one");
  await sleep(20);
  const b = await echo("two");
  if (b === "two") throw new Error("the code was wrong");
  return [a, b];
});

export const forkedAsleep = workflow({ name: "forked_asleep" }, async () => {
  await echo("before");
  await sleep(1_500);
  return echo("after");
});

export const forkedAfterAChild = workflow({ name: "forked_after_a_child" }, async () => {
  const child = await call(threeSteps, 1);
  const answer = await pause("ask");
  return [child, answer];
});

/** Registers one more version of a workflow. */
async function register(it: Outside, source: string): Promise<void> {
  const lines = [
    'import { pause, sleep, task, workflow } from "@engine/sdk";',
    'const echo = task({ name: "echo" }, async (value: unknown) => value);',
    'const add = task({ name: "add" }, async ([a, b]: number[]) => a + b);',
    source,
  ];
  const { status, body } = await it.ask("POST", "/workflows", { source: lines.join("\n") });
  if (status >= 300) throw new Error(`not registered: ${JSON.stringify(body)}`);
}

/** Forks; gives what the copy came to in the end. */
async function fork(it: Outside, how: Record<string, unknown>): Promise<ExecutionRecord> {
  const { status, body } = await it.ask("POST", `/executions/${it.id}/fork`, how);
  if (status !== 201) throw new Error(`not forked: ${status} ${JSON.stringify(body)}`);
  const { execution_id } = body as ExecutionRecord;
  it.adopt(execution_id);
  await it.untilEnded(execution_id);
  return (await it.ask("GET", `/executions/${execution_id}`)).body as ExecutionRecord;
}

function mustBe(found: unknown, wanted: unknown): void {
  const [a, b] = [found, wanted].map((one) => JSON.stringify(one));
  if (a !== b) throw new Error(`${a}, not ${b}`);
}

export const versions: Programs = {
  tariff: {
    sees: "a workflow ends on the code that it began with, and a new one runs on the newest",
    drive: async (it) => {
      await it.untilWaits("pause", "ask");
      await register(it, 'export const tariff = workflow({ name: "tariff" }, async () => "new");');
      const other = await it.start("tariff", null);
      await it.resume("yes");
      mustBe(await it.untilEnded(other), "new");
    },
    output: ["old", "yes"],
  },
  three_steps: {
    sees: "a copy that goes on from a step repeats that step and what follows, and nothing before",
    input: 1,
    drive: async (it) => {
      await it.untilEnded();
      mustBe((await fork(it, { from_call: "add~2" })).output, 3);
    },
    output: 3,
    did: ["add 0 1", "add 1 1", "add 2 1", "add 1 1", "add 2 1"],
  },
  "three_steps again": {
    workflow: "three_steps",
    sees: "a copy from the very beginning may have another input, and does everything",
    input: 1,
    drive: async (it) => {
      await it.untilEnded();
      mustBe((await fork(it, { input: 2 })).output, 6);
    },
    output: 3,
    did: ["add 0 1", "add 1 1", "add 2 1", "add 0 2", "add 2 2", "add 4 2"],
  },
  "three_steps twice": {
    workflow: "three_steps",
    sees: "two copies from one point are two, and each does its own work",
    input: 5,
    drive: async (it) => {
      await it.untilEnded();
      const both = await Promise.all([
        fork(it, { from_call: "add~3" }),
        fork(it, { from_call: "add~3" }),
      ]);
      mustBe(
        both.map(({ output }) => output),
        [15, 15],
      );
    },
    output: 15,
    did: ["add 0 5", "add 5 5", "add 10 5", "add 10 5", "add 10 5"],
  },
  "three_steps elsewhere": {
    workflow: "three_steps",
    sees: "a copy onto code that does something else fails and says so, and does nothing",
    input: 1,
    drive: async (it) => {
      await it.untilEnded();
      const source =
        'export const three = workflow({ name: "three_steps" }, async () => echo("else"));';
      await register(it, source);
      const { state, error } = await fork(it, { from_call: "add~3", version: 2 });
      mustBe([state, error?.details?.["type"]], ["FAILED", "NondeterminismError"]);
    },
    output: 3,
    did: ["add 0 1", "add 1 1", "add 2 1"],
  },
  broken: {
    sees: "what failed by its code goes on with mended code from where it was, and repeats nothing",
    drive: async (it) => {
      await it.untilEnded();
      await register(
        it,
        `export const broken = workflow({ name: "broken" }, async () => {
          const a = await echo("one");
          await sleep(20);
          const b = await echo("two");
          return [a, b, "mended"];
        });`,
      );
      const { output, version } = await fork(it, { from_call: "echo~2", version: 2 });
      mustBe([output, version], [["one", "two", "mended"], 2]);
    },
    failure: { message: "the code was wrong" },
    did: ["echo one", "echo two"],
  },
  forked_asleep: {
    sees: "a copy of a workflow that sleeps sleeps itself, and both end",
    drive: async (it) => {
      // On a busy machine the sleep may be over before anybody could see it wait.
      await it.untilBegun("sleep");
      mustBe((await fork(it, { from_call: "sleep~1" })).output, "after");
    },
    output: "after",
    did: ["echo before", "echo after", "echo after"],
  },
  forked_after_a_child: {
    sees: "a copy from after a child's end does not call the child again",
    drive: async (it) => {
      await it.untilWaits("pause", "ask");
      const { body } = await it.ask("POST", `/executions/${it.id}/fork`, { from_call: "pause~1" });
      const { execution_id } = body as ExecutionRecord;
      it.adopt(execution_id);
      await it.resume("first");
      await it.until("the copy is answered", async () => {
        const path = `/workflows/default/forked_after_a_child/resume/${execution_id}/async`;
        return (await it.ask("POST", path, "second")).status === 202;
      });
      mustBe(await it.untilEnded(execution_id), [3, "second"]);
    },
    output: [3, "first"],
    did: ["add 0 1", "add 1 1", "add 2 1"],
  },
};
