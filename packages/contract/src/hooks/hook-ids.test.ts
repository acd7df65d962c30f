import { expect, test } from "vitest";
import * as z from "zod";
import { deliveryId, eventKey, hookExecutionId } from "./hook-ids.ts";
import { toyDigest } from "./testing/toy-digest.ts";

const of = {
  hook_id: "0192f0c1-0000-7000-8000-000000000001",
  event_key: eventKey("0192f0c0-0000-7000-8000-000000000002", 17),
  recorded_at: Date.UTC(2026, 0, 5, 9, 30, 0, 123),
};

test("HOOK-3 an event key is the execution's id and the event's number", () => {
  expect(of.event_key).toBe("0192f0c0-0000-7000-8000-000000000002:17");
});

test("HOOK-3 the id of a delivery follows from the hook, the event and the instant of its commit", () => {
  const digest = "0123456789abcdef".repeat(4);
  const asked: string[] = [];
  const id = deliveryId(of, (text) => {
    asked.push(text);
    return digest;
  });
  expect(asked).toEqual([`${of.hook_id}:${of.event_key}`]);
  expect(id.replaceAll("-", "").slice(0, 12)).toBe(of.recorded_at.toString(16).padStart(12, "0"));
  // Digits of the digest, but for the version and the variant: 3 of 0…f becomes b.
  expect(id.slice(14)).toBe("7012-b456-789abcdef012");
});

test("HOOK-30 the id of the execution follows from the delivery, and has its instant", () => {
  const delivery = deliveryId(of, toyDigest);
  const asked: string[] = [];
  const id = hookExecutionId(delivery, (text) => {
    asked.push(text);
    return toyDigest(text);
  });
  expect(asked).toEqual([`hook-execution:${delivery}`]);
  expect(id.slice(0, 13)).toBe(delivery.slice(0, 13));
  expect(id).not.toBe(delivery);
});

test("HOOK-3 HOOK-30 they are UUIDv7, other ones for other hooks and events", () => {
  const ids = Array.from({ length: 500 }, (_, i) => [
    deliveryId({ ...of, event_key: eventKey("e", i) }, toyDigest),
    deliveryId({ ...of, hook_id: `h${i}` }, toyDigest),
    hookExecutionId(deliveryId({ ...of, hook_id: `h${i}` }, toyDigest), toyDigest),
  ]).flat();
  for (const id of ids) z.uuidv7().parse(id);
  expect(new Set(ids).size).toBe(ids.length);
});
