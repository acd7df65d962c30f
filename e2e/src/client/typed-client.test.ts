import {
  createClient,
  WorkflowCancelledError,
  type WorkflowClient,
  WorkflowFailedError,
  WorkflowPausedError,
} from "@engine/client";
import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest";
import type { counting } from "../fixtures/counting.ts";
import type { mailbox } from "../fixtures/mailbox.ts";
import type { review } from "../fixtures/review.ts";
import type { slow } from "../fixtures/slow.ts";
import type { failing } from "../fixtures/trouble.ts";
import { type Engine, startEngine } from "../harness/engine.ts";

let engine: Engine;
let client: ReturnType<typeof createClient>;
beforeAll(async () => {
  engine = await startEngine();
  await engine.register("counting", "mailbox", "review", "slow", "trouble");
  client = createClient({ baseUrl: engine.url });
});
afterAll(() => engine[Symbol.asyncDispose]());

test("EXE-90 run gives the typed output, and throws the failure of a workflow that fails", async () => {
  const output = await client.workflow<typeof counting>("counting").run(2);
  expectTypeOf(output).toEqualTypeOf<number>();
  expect(output).toBe(4);
  const failed = client.workflow<typeof failing>("default/failing").run("out of range");
  await expect(failed).rejects.toThrow(WorkflowFailedError);
  await expect(failed).rejects.toMatchObject({ failure: { type: "RangeError", attempts: 1 } });
});

test("EXE-84 EXE-90 a keyed start whose answers are lost is one execution", async () => {
  let toLose = 2;
  const lossy = createClient({
    baseUrl: engine.url,
    fetch: async (url, request) => {
      const response = await fetch(url, request);
      if (request.method === "GET" || toLose === 0) return response;
      toLose -= 1;
      await response.body?.cancel();
      throw new TypeError("fetch failed", { cause: new Error("ECONNRESET") });
    },
  });
  const countings = lossy.workflow<typeof counting>("counting");
  const options = { idempotencyKey: "order-17", name: "the order" };
  expect(await countings.run(3, options)).toBe(6);
  const again = await countings.start(3, options);
  expect(await again.result()).toBe(6);
  expect(toLose).toBe(0);
  const { items } = await client.executions.list({ query: { name: "the order" } });
  expect(items.map(({ execution_id }) => execution_id)).toEqual([again.executionId]);
  await expect(countings.start(4, options)).rejects.toMatchObject({
    code: "idempotency_mismatch",
    details: { execution_id: again.executionId },
  });
  expect(await again.rename("the first order")).toMatchObject({ name: "the first order" });
});

test("EXE-90 result lasts through a kill -9 of the server, in a handle made from the id alone too", async () => {
  const slows: WorkflowClient<typeof slow> = client.workflow("slow");
  // Several seconds: it must not be over before the server is killed, however busy the machine is.
  const handle = await slows.start({ steps: 50, ms: 100 });
  const results = [handle.result(), slows.get(handle.executionId).result()];
  await engine.untilIs(handle.executionId, ({ state }) => state === "RUNNING");
  await engine.server.kill();
  engine.startServerAgain();
  expect(await Promise.all(results)).toEqual([5_000, 5_000]);
  expect(await handle.status()).toMatchObject({ state: "COMPLETED", generation: 1 });
});

test("EXE-90 a pause is thrown with what it shows, and answered by resume", async () => {
  const article = { topic: "typing", file: engine.home.file("typed.txt") };
  const handle = await client.workflow<typeof review>("review").start(article);
  const paused = await handle.result().catch((error: unknown) => error);
  expect(paused).toBeInstanceOf(WorkflowPausedError);
  expect(paused).toMatchObject({ pause: { name: "verdict", value: { title: "On typing" } } });
  await handle.resume({ ok: true });
  expect(await handle.result()).toBe("published: On typing");
});

test("EXE-90 signals are taken in the order in which they were sent", async () => {
  const handle = await client.workflow<typeof mailbox>("mailbox").start();
  for (const letter of ["a", "b", "c"]) await handle.signal("letter", letter);
  expect(await handle.result()).toEqual(["a", "b", "c"]);
});

test("EXE-90 after a cancel result rejects with what became of it", async () => {
  const handle = await client.workflow<typeof mailbox>("mailbox").start();
  expect(await handle.cancel({ reason: "no mail today" })).toMatchObject({
    state: expect.stringMatching(/^CANCELL(ING|ED)$/),
  });
  await expect(handle.result()).rejects.toThrow(WorkflowCancelledError);
});

test("EXE-90 EXE-93 stream gives the states from now on and ends with the execution", async () => {
  const handle = await client.workflow<typeof counting>("counting").start(5);
  const events: string[] = [];
  for await (const { event } of await handle.stream()) events.push(event);
  expect(events.at(-1)).toBe("counting.execution.completed");
  const states = events.filter((event) => event !== "task.progress");
  expect(states).toEqual([...new Set(states)]);
});
