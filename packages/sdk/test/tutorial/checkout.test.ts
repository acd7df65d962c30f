// The tests of docs/testing.md; vitest finds them through src/testing/tutorial.test.ts.

//#region engine
import assert from "node:assert/strict";
import { testEngine } from "@engine/sdk/testing";
import { test } from "vitest";
import { charge, checkout, ship } from "./checkout.ts";

function shop(options: { alwaysReplay?: boolean; duplicateDelivery?: boolean } = {}) {
  const engine = testEngine({ skipTime: true, ...options });
  engine.mock(charge, async () => ({ receipt: "r1" }));
  engine.mock(ship, async ({ id }) => `parcel of ${id}`);
  return engine;
}
//#endregion

//#region happy
test("an order is charged, and shipped an hour later", async () => {
  const engine = shop();
  const { output } = await engine.run(checkout, { id: "o1", cents: 900 });
  assert.deepEqual(output, { status: "shipped", receipt: "r1", parcel: "parcel of o1" });
  assert.equal(engine.now.toISOString(), "2026-01-01T01:00:00.000Z");
});
//#endregion

//#region retry
test("a payment that fails twice succeeds in the end", async () => {
  const engine = shop();
  engine.mock(charge, async (_order, { attempt }) => {
    if (attempt < 3) throw new Error("payment answered 503");
    return { receipt: "r3" };
  });
  const { output } = await engine.run(checkout, { id: "o1", cents: 900 });
  assert.equal(output?.receipt, "r3");
});

test("a payment that always fails ships nothing", async () => {
  const engine = shop();
  engine.mock(charge, async () => {
    throw new Error("payment answered 503");
  });
  const { state, failure } = await engine.run(checkout, { id: "o1", cents: 900 });
  assert.equal(state, "FAILED");
  assert.equal(failure?.message, "payment answered 503");
  assert.deepEqual(
    engine.calls.map(({ name, attempt }) => `${name} ${attempt}`),
    ["charge 1", "charge 2", "charge 3"],
  );
});
//#endregion

//#region crash
test("nobody is charged twice when a worker is lost", async () => {
  const engine = shop();
  engine.crashAfter("charge~1");
  const { output } = await engine.run(checkout, { id: "o1", cents: 900 });
  assert.equal(output?.status, "shipped");
  assert.deepEqual(
    engine.calls.map(({ name }) => name),
    ["charge", "ship"],
  );
});
//#endregion

//#region pause
test("a large order waits for a review", async () => {
  const engine = shop();
  const order = { id: "o2", cents: 90_000 };
  const { paused, waiting, executionId } = await engine.run(checkout, order);
  assert.equal(paused, true);
  assert.deepEqual(waiting[0]?.output, order);

  const { output } = await engine.resume(executionId, { ok: true });
  assert.deepEqual(output, { status: "shipped", receipt: "r1", parcel: "parcel of o2" });
});

test("a review that nobody makes expires after two days", async () => {
  const engine = shop();
  const { executionId } = await engine.run(checkout, { id: "o2", cents: 90_000 });

  await engine.advance("47h");
  assert.equal(engine.get(executionId).paused, true);
  await engine.advance("1h");
  assert.deepEqual(engine.get(executionId).output, { status: "expired" });
  assert.deepEqual(engine.calls, []);
});
//#endregion

//#region timeout
test("a payment service that hangs is given up after half a minute", async () => {
  const engine = shop();
  engine.mock(charge, () => new Promise(() => {}));
  const running = engine.run(checkout, { id: "o1", cents: 900 });
  await engine.advance("5m");
  assert.equal((await running).failure?.type, "TaskTimeoutError");
});
//#endregion

//#region trouble
for (const trouble of [{ alwaysReplay: true }, { duplicateDelivery: true }]) {
  test(`an order survives ${Object.keys(trouble).join()}`, async () => {
    const engine = shop(trouble);
    const { output } = await engine.run(checkout, { id: "o1", cents: 900 });
    assert.equal(output?.status, "shipped");
  });
}
//#endregion
