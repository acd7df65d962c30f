import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import type { StartOptions } from "./start-request.ts";
import { type Reply, replies, scriptedEngine } from "./testing/scripted-engine.ts";
import type { FetchResponse } from "./transport.ts";

const { broken, completed, refused, running } = replies;

/** A keyed start over the written replies. */
function started(script: Reply[], options: StartOptions = {}) {
  const engine = scriptedEngine(...script);
  const checkout = engine.client.workflow("shop/checkout");
  const start = checkout.start({ cart: "c1" }, { idempotencyKey: "order-17", ...options });
  // A test looks at it later; until then a rejection is nobody's.
  start.catch(() => undefined);
  return { ...engine, checkout, start };
}

test("EXE-84 EXE-90 a start whose answer was lost is sent again under its key, until there is an answer", async () => {
  const silent: Reply = ({ signal }) =>
    new Promise<FetchResponse>((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  const { start, timing, sent } = started([broken, refused(503, "unavailable"), silent, running]);
  expect([await timing.fire(), await timing.fire()]).toEqual([50, 100]);
  expect(await timing.fire(30_000)).toBe(30_000);
  expect(await timing.fire()).toBe(200);
  expect((await start).executionId).toBe("e1");
  const [first] = sent;
  expect(sent).toEqual([first, first, first, first]);
  expect(first?.headers["idempotency-key"]).toBe("order-17");
  expect(timing.pending).toBe(0);
});

test("EXE-84 EXE-90 a keyed run survives broken connections at its start and during the wait", async () => {
  const { client, timing } = scriptedEngine(broken, running, broken, completed("done"));
  const run = client.workflow("shop/checkout").run({}, { idempotencyKey: "order-17" });
  await timing.fire();
  await timing.fire();
  expect(await run).toBe("done");
});

test("EXE-84 EXE-90 after ten tries it gives up and says that the same key can be used again", async () => {
  const { start, timing, sent } = started(Array<Reply>(11).fill(broken));
  for (let pause = 1; pause < 10; pause++) await timing.fire();
  const error = await start.catch((thrown: EngineError) => thrown);
  expect(error).toBeInstanceOf(EngineError);
  expect(error).toMatchObject({ code: "unavailable" });
  expect((error as EngineError).message).toMatch(
    /after 10 tries shop\/checkout may have started or not: start it again with the same key "order-17"/,
  );
  expect(sent).toHaveLength(10);
});

test("EXE-84 EXE-90 a refusal is thrown as it came, at whatever try", async () => {
  const { start, timing, sent } = started([broken, refused(422, "idempotency_mismatch")]);
  await timing.fire();
  await expect(start).rejects.toMatchObject({ code: "idempotency_mismatch" });
  expect(sent).toHaveLength(2);
});

test("EXE-90 the caller's signal ends the tries with its reason", async () => {
  const leave = new AbortController();
  const { start, timing, sent } = started([broken], { signal: leave.signal });
  expect(await timing.armed()).toBe(50);
  const reason = new Error("enough");
  leave.abort(reason);
  await expect(start).rejects.toBe(reason);
  expect(sent).toHaveLength(1);
  expect(timing.pending).toBe(0);
});
