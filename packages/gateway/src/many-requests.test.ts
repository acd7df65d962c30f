import { expect, test } from "vitest";
import { FakeEngine } from "./testing/fake-engine.ts";
import { TestGateway } from "./testing/test-gateway.ts";

test("GW-17 10,000 requests to known names make one fetch for each time that a list is used", async () => {
  await using engine = await FakeEngine.start();
  const cacheTtl = 0.5;
  await using gateway = await TestGateway.start(engine, { cacheTtl });
  const began = performance.now();
  let left = 10_000;
  const ask = async () => {
    while (left-- > 0) {
      const answered = await fetch(`${gateway.url}/invoice`, { method: "POST" });
      await answered.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 50 }, ask));
  const seconds = (performance.now() - began) / 1000;
  expect(engine.received).toHaveLength(10_000);
  expect(engine.lists.length).toBeGreaterThan(1);
  expect(engine.lists.length).toBeLessThanOrEqual(2 + seconds / cacheTtl);
}, 60_000);
