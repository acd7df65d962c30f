import { SENSITIVE } from "@engine/contract";
import { expect, test } from "vitest";
import { parallel, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

const REAL = "4111-1111-1111-1111";

interface Sent {
  readonly type: string;
  readonly source_id: string;
  readonly value: unknown;
  readonly hidden?: unknown;
}

/** A scene with everything that was sent to be written, as it was sent. */
function watched(...of: ConstructorParameters<typeof Scene>): { scene: Scene; sent: Sent[] } {
  const scene = new Scene(...of);
  const sent: Sent[] = [];
  scene.onDelta = (_, { events }) => void sent.push(...(JSON.parse(events) as Sent[]));
  return { scene, sent };
}

/** What a reader of the log would see of these. */
function shown(sent: readonly Sent[]): string {
  return JSON.stringify(sent.map(({ hidden: _, ...event }) => event));
}

test("SEC-8 what a sensitive task takes and gives is shown as a marker, and goes apart as it is", async () => {
  const charge = task(
    { name: "charge", sensitive: true },
    async (card: string) => `paid by ${card}`,
  );
  const wf = workflow({ name: "w" }, async () => (await charge(REAL)).length);
  const { scene, sent } = watched([wf]);
  expect(await scene.run()).toMatchObject({ state: "COMPLETED", output: 27 });
  expect(sent.filter(({ source_id }) => source_id === "charge~1")).toMatchObject([
    { type: "TASK_STARTED", value: SENSITIVE, hidden: REAL },
    { type: "TASK_COMPLETED", value: SENSITIVE, hidden: `paid by ${REAL}` },
  ]);
  expect(shown(sent)).not.toContain(REAL);
});

test("SEC-9 a replay returns the recorded value, and no body runs again", async () => {
  let ran = 0;
  const charge = task({ name: "charge", sensitive: true }, async (card: string) => {
    ran++;
    return { card };
  });
  const wait = task({ name: "wait" }, () => new Promise(() => {}));
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    seen.push(await charge(REAL));
    await wait();
  });
  const { scene } = watched([wf]);
  await scene.start();
  await scene.crash();
  await scene.settle();
  expect(seen).toEqual([{ card: REAL }, { card: REAL }]);
  expect(ran).toBe(1);
});

test("SEC-8 retries, fallbacks and rollbacks show no message, and code is told none either", async () => {
  const told: string[] = [];
  const charge = task(
    {
      name: "charge",
      sensitive: true,
      retry: {
        maxAttempts: 2,
        delay: 0,
        retryIf: (failure) => {
          told.push(failure.message);
          return true;
        },
      },
      rollback: () => {
        throw new TypeError(`cannot undo ${REAL}`);
      },
    },
    async (card: string) => {
      throw new RangeError(`declined ${card}`, { cause: new Error(card) });
    },
  );
  const wf = workflow({ name: "w" }, async () => {
    await charge(REAL);
  });
  const { scene, sent } = watched([wf]);
  const { failure } = await scene.run();
  expect(failure).toMatchObject({ type: "RangeError", message: SENSITIVE });
  expect(JSON.stringify(scene.log())).not.toContain("declined");
  expect(told).toEqual([SENSITIVE]);
  expect(shown(sent)).not.toContain(REAL);
  expect(sent.some(({ type }) => type === "TASK_ROLLBACK_FAILED")).toBe(true);
});

test("SEC-8 the value of a retry and of a fallback is kept apart, with the attempt to be seen", async () => {
  const charge = task(
    { name: "charge", sensitive: true, retry: { maxAttempts: 2, delay: 0 } },
    async (_: string, { attempt }) => {
      if (attempt === 1) throw new Error("again");
      return REAL;
    },
  );
  const other = task(
    { name: "other", sensitive: true, fallback: () => REAL },
    async (): Promise<string> => {
      throw new Error("no");
    },
  );
  const wf = workflow({ name: "w" }, async () => (await charge(REAL)) === (await other()));
  const { scene, sent } = watched([wf]);
  expect(await scene.run()).toMatchObject({ output: true });
  expect(sent.find(({ type }) => type === "TASK_RETRY_COMPLETED")).toMatchObject({
    value: { attempt: 2, max_attempts: 2, output: SENSITIVE },
    hidden: { attempt: 2, max_attempts: 2, output: REAL },
  });
  expect(sent.find(({ type }) => type === "TASK_FALLBACK_COMPLETED")).toMatchObject({
    value: SENSITIVE,
    hidden: REAL,
  });
  expect(shown(sent)).not.toContain(REAL);
});

test("SEC-8 the result of a combinator around a sensitive task is no way around it", async () => {
  const charge = task({ name: "charge", sensitive: true }, async () => REAL);
  const plain = task({ name: "plain" }, async () => "seen");
  const wf = workflow({ name: "w" }, async () => {
    const both = await parallel([() => charge(), () => parallel([() => plain()])]);
    return both.flat().length;
  });
  const { scene, sent } = watched([wf]);
  expect(await scene.run()).toMatchObject({ output: 2 });
  expect(shown(sent)).not.toContain(REAL);
  expect(shown(sent)).toContain("seen");
});

test("SEC-8 an input that a schema refuses is not told", async () => {
  const input = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: (value: unknown) => ({ issues: [{ message: `not ${String(value)}` }] }),
    },
  };
  const charge = task({ name: "charge", sensitive: true, input }, async () => 1);
  const wf = workflow({ name: "w" }, async () => charge(REAL as never));
  const { scene, sent } = watched([wf]);
  const { failure } = await scene.run();
  expect(failure).toMatchObject({ type: "InvalidInputError", message: SENSITIVE });
  expect(shown(sent)).not.toContain(REAL);
});

test("SEC-9 EXE-49 a value too large for the log goes to the storage as a hidden one", async () => {
  const large = REAL.repeat(100);
  const charge = task({ name: "charge", sensitive: true }, async () => large);
  const wf = workflow({ name: "w" }, async () => (await charge()).length);
  const stored: [string, boolean | undefined][] = [];
  const saveValue = async (text: string, hidden?: boolean) => {
    stored.push([text, hidden]);
    return { storage_type: "file", reference_id: "e1/1", metadata: {} };
  };
  const { scene, sent } = watched([wf], {
    limits: { inline_value_bytes: 100 },
    services: { saveValue },
  });
  expect(await scene.run()).toMatchObject({ output: large.length });
  expect(stored).toEqual([[JSON.stringify(large), true]]);
  expect(shown(sent)).not.toContain(REAL);
  expect(shown(sent)).not.toContain("e1/1");
});
