/**
 * Code that has an outcome before the log does: what it says next rides the same commit, and nothing
 * else of it shows. `PROPERTY_RUNS` sets how many programs the property sees.
 */
import type { NewEvent } from "@engine/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { now, parallel, pause, signal, task, uuid, workflow } from "../index.ts";
import { replayHistory } from "./replay-history.ts";
import { MemoryExecution } from "./testing/memory-execution.ts";
import { atRandom, drive } from "./testing/random-drive.ts";
import {
  GRACE_MS,
  INPUT,
  interpreter,
  type Program,
  programs,
  Scheduler,
} from "./testing/random-program.ts";
import { Scene } from "./testing/scene.ts";

interface Step {
  readonly ran: string[];
  readonly step: (name: string) => Promise<string>;
}

function steps(): Step {
  const ran: string[] = [];
  const step = task({ name: "step" }, async (name: string) => {
    ran.push(name);
    return name;
  });
  return { ran, step };
}

/** The types of each delta that was sent. */
function deltasOf(scene: Scene): string[][] {
  const deltas: string[][] = [];
  scene.onDelta = (_, { events }) => {
    deltas.push((JSON.parse(events) as NewEvent[]).map(({ type }) => type));
  };
  return deltas;
}

test("EXE-27 the last outcome and the end of the workflow share a commit", async () => {
  const { step } = steps();
  const scene = new Scene([
    workflow({ name: "w" }, async () => [await step("a"), await step("b")]),
  ]);
  const deltas = deltasOf(scene);
  await scene.run();
  expect(deltas).toEqual([
    ["WORKFLOW_STARTED", "TASK_STARTED", "TASK_COMPLETED", "TASK_STARTED"],
    ["TASK_COMPLETED", "WORKFLOW_COMPLETED"],
  ]);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: ["a", "b"] });
});

test("recorded values and the wait behind them share a commit with the outcome before", async () => {
  const { step } = steps();
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      await step("a");
      await now();
      await uuid();
      await pause("p");
    }),
  ]);
  const deltas = deltasOf(scene);
  await scene.start();
  expect(deltas).toHaveLength(2);
  expect(deltas[0]?.filter((type) => type === "TASK_COMPLETED")).toHaveLength(3);
  expect(deltas[1]).toEqual(["WORKFLOW_PAUSED"]);
});

test("I4 no function of a task starts before every outcome that its call could know is durable", async () => {
  const { step, ran } = steps();
  const scene = new Scene([
    workflow({ name: "w" }, async () => [await step("a"), await step("b")]),
  ]);
  const seen: string[] = [];
  scene.onDelta = (_, { events }) => {
    seen.push(`${events.includes('"a","time"') ? "a" : "b"} is sent after ${ran.join(" ")}`);
  };
  await scene.run();
  expect(seen).toEqual(["a is sent after a", "b is sent after a b"]);
});

test("while another call is open the code waits for the log, since its function could not be kept", async () => {
  const { step } = steps();
  const scene = new Scene([
    workflow({ name: "w" }, async () =>
      parallel([async () => [await step("a"), await now()], async () => signal("s")]),
    ),
  ]);
  const deltas: string[] = [];
  scene.onDelta = (_, { events }) => void deltas.push(events);
  await scene.start();
  const of = (id: string) =>
    deltas.findIndex((events) =>
      (JSON.parse(events) as NewEvent[]).some(
        ({ type, source_id }) => type === "TASK_COMPLETED" && source_id.endsWith(id),
      ),
    );
  expect(of("step~1")).toBeGreaterThanOrEqual(0);
  expect(of("now~1")).toBeGreaterThan(of("step~1"));
});

test.each(["before it is sent", "while it is sent"])(
  "I11 a signal that the server writes first, %s: the outcome stands behind it, its body does not run again",
  async (when) => {
    const { step, ran } = steps();
    let bodies = 0;
    const body = async () => {
      bodies++;
      const first = await step("a");
      const at = Date.now();
      return [first, at, await signal("s"), await step("b")];
    };
    const wf = workflow({ name: "w" }, body);
    const scene = new Scene([wf]);
    let isSent = false;
    const interrupt = () => {
      if (isSent) return;
      isSent = true;
      scene.engine.signal("e1", "s", "early");
    };
    if (when === "while it is sent") scene.onDelta = interrupt;
    else
      scene.engine.onChange = ({ state }) => void (state === "CLAIMED" && setImmediate(interrupt));
    await scene.run();
    expect(isSent).toBe(true);
    expect(scene.row()).toMatchObject({ state: "COMPLETED" });
    const output = scene.row().output as unknown[];
    expect([output[0], output[2], output[3]]).toEqual(["a", "early", "b"]);
    expect(ran).toEqual(["a", "b"]);
    expect(scene.types().filter((type) => type === "WORKFLOW_STARTED")).toHaveLength(1);
    expect(scene.types()).not.toContain("WORKFLOW_RESUMED");
    if (when === "while it is sent") expect(bodies).toBe(2);
    const history = { execution: scene.row(), seed: scene.row().seed, events: scene.log() };
    expect(await replayHistory(wf, history as never)).toEqual({ result: "ok" });
  },
);

test("I13 a cancel that the server writes first is what the code sees first; the outcome stays", async () => {
  const { step, ran } = steps();
  const undone: string[] = [];
  const first = task(
    { name: "first", rollback: async () => void undone.push("first") },
    async () => "done",
  );
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      await first(undefined);
      return await step("b");
    }),
  ]);
  scene.onDelta = (_, { events }) => {
    if (events.includes("TASK_COMPLETED") && !scene.types().includes("WORKFLOW_CANCELLING")) {
      scene.engine.cancel("e1");
    }
  };
  await scene.run();
  expect(scene.row().state).toBe("CANCELLED");
  expect(ran).toEqual([]);
  expect(scene.story().filter((line) => line.startsWith("TASK_COMPLETED"))).toEqual([
    "TASK_COMPLETED first~1",
  ]);
});

test("a copy that is stopped while its outcome stands behind another event writes nothing more", async () => {
  const { step, ran } = steps();
  const scene = new Scene([
    workflow({ name: "w" }, async () => [await step("a"), await step("b")]),
  ]);
  let deltas = 0;
  scene.onDelta = () => {
    deltas++;
    // The answer to the first one tells the copy of the signal; what it sends then comes too late.
    if (deltas === 1) scene.engine.signal("e1", "s", null);
    if (deltas === 2) scene.engine.fence("e1");
  };
  await scene.run();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: ["a", "b"] });
  // Its outcome was lost with the copy, as in a crash.
  expect(ran).toEqual(["a", "a", "b"]);
});

const runs = Number(process.env["PROPERTY_RUNS"] ?? 400);

test(
  "I4 I7 whatever the server writes first, code goes the way of its log and no recorded body runs again",
  async () => {
    let overtaken = 0;
    const property = async (ast: Program, drawn: readonly number[]) => {
      const scheduler = new Scheduler();
      let bodies = 0;
      const { workflow: wf, child } = interpreter(ast, () => scheduler);
      const counted = workflow({ name: wf.name, namespace: wf.namespace }, async (input, ctx) => {
        bodies++;
        return wf.body(input as never, ctx);
      });
      const execution = new MemoryExecution(counted, INPUT, scheduler.host, {
        limits: { inline_wait: 1, sibling_grace: GRACE_MS / 1000 },
        children: [child],
        clock: () => scheduler.now,
      });
      let [deltas, claims] = [0, 0];
      execution.onDelta = () => {
        const draw = drawn[deltas++ % drawn.length] ?? 0;
        // Now and then, so that it comes to an end.
        if (deltas % 2 === 0 && draw % 2 === 0)
          execution.engine.signal(execution.id, "noise", draw);
      };
      await drive(execution, atRandom(scheduler, drawn));
      claims = execution.types.filter((type) => type === "WORKFLOW_CLAIMED").length;
      if (bodies > claims) overtaken++;
      const { row, events } = execution;
      const history = { execution: row, seed: row.seed, events };
      expect(await replayHistory(counted, history as never)).toEqual({ result: "ok" });
      // Each body once for each attempt: nothing is lost, so nothing runs again.
      const attempts = events.filter(({ type, kind }) => type === "TASK_STARTED" && kind === null);
      const retries = events.filter(({ type }) => type === "TASK_RETRY_STARTED");
      expect(scheduler.ran.length).toBeLessThanOrEqual(attempts.length + retries.length);
    };
    const asts = programs("value", "pause", "sleep", "signal", "globals", "item");
    const draws = fc.array(fc.nat({ max: 1000 }), { minLength: 5, maxLength: 40 });
    await fc.assert(fc.asyncProperty(asts, draws, property), { numRuns: runs });
    expect(overtaken).toBeGreaterThan(runs / 20);
  },
  Math.max(2, runs / 500) * 60_000,
);

test("I4 a storage of the user's gets a workflow's output once the outcomes it follows from are durable", async () => {
  const { step } = steps();
  const stored: string[] = [];
  const outputStorage = {
    type: "mine",
    store: async (id: string, output: unknown) => {
      stored.push(`${JSON.stringify(output)} after ${scene.types().at(-1)}`);
      return { storage_type: "mine", reference_id: id, metadata: {} };
    },
    retrieve: async () => "a",
  };
  const scene = new Scene([workflow({ name: "w", outputStorage }, async () => step("a"))]);
  await scene.run();
  expect(scene.row().state).toBe("COMPLETED");
  expect(stored).toEqual(['"a" after TASK_COMPLETED']);
});

test("a loop of recorded values is sent in deltas of a bounded size, not in one at its end", async () => {
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      for (let i = 0; i < 500; i++) await now();
    }),
  ]);
  const deltas = deltasOf(scene);
  await scene.run();
  expect(scene.row().state).toBe("COMPLETED");
  expect(Math.max(...deltas.map((types) => types.length))).toBeLessThan(110);
  expect(deltas.length).toBeLessThan(20);
});
