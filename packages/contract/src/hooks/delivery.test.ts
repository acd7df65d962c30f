import { expect, test } from "vitest";
import {
  DeadReason,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryRetry,
  DetailedDelivery,
  HookTest,
} from "./delivery.ts";
import { HookProblem } from "./hook.ts";

const pending = {
  id: "0192f0c1-0000-7000-8000-000000000001",
  hook: "page",
  event_key: "0192f0c0-0000-7000-8000-000000000002:17",
  status: "pending",
  attempts: 0,
  hop: 0,
  selector: "execution:*",
  event_type: "failed",
  source_workflow: "billing/charge",
  execution_id: null,
  error: null,
  dead_reason: null,
  next_attempt_at: null,
  created_at: "2026-01-05T09:30:00.123Z",
  settled_at: null,
};
const settled_at = "2026-01-05T09:31:00.000Z";
const delivered = { ...pending, status: "delivered", execution_id: "e2", settled_at };
const dead = {
  ...pending,
  status: "dead",
  error: "it is gone",
  dead_reason: "hop_limit",
  settled_at,
};

test("HOOK-3 a delivery waits, has started an execution, or is dead and says why", () => {
  for (const record of [pending, { ...pending, error: "busy", attempts: 1 }, delivered, dead]) {
    expect(DeliveryRecord.parse(record)).toEqual(record);
  }
  for (const wrong of [
    { ...pending, execution_id: "e2" },
    { ...pending, dead_reason: "hop_limit" },
    { ...delivered, execution_id: null },
    { ...delivered, error: "busy" },
    { ...delivered, settled_at: null },
    { ...dead, error: null },
    { ...dead, dead_reason: null },
    { ...dead, dead_reason: "bad luck" },
    { ...dead, execution_id: "e2" },
  ]) {
    expect(DeliveryRecord.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
  }
});

test("HOOK-3 one delivery alone is shown with its envelope, or without one where that is unreadable", () => {
  expect(DetailedDelivery.parse({ ...dead, envelope: null })).toEqual({ ...dead, envelope: null });
  expect(DetailedDelivery.safeParse(dead).success).toBe(false);
  expect(DeliveryRecord.parse({ ...dead, envelope: null })).toEqual(dead);
});

test("HOOK-38 these are the reasons for which a delivery dies", () => {
  expect(DeadReason.options.toSorted()).toEqual([
    "attempts_exhausted",
    "hook_disabled",
    "hop_limit",
    "input_rejected",
    "malformed",
    "principal_banned",
    "principal_disabled",
    "principal_not_found",
    "principal_not_permitted",
    "principal_not_service_account",
    "target_not_found",
  ]);
});

test("HOOK-2 a problem of a hook is why its next delivery would die, or why there is none", () => {
  const reasons: readonly string[] = DeadReason.options;
  const other = HookProblem.options.filter((problem) => !reasons.includes(problem));
  expect(other).toEqual(["hooks_disabled"]);
});

test("HOOK-36 deliveries are listed 50 at a time, at most 200, by place or behind one of them", () => {
  expect(DeliveryQuery.parse({})).toEqual({ limit: 50, offset: 0 });
  const filters = { status: "dead", dead_reason: "hop_limit", source_execution_id: "e1" };
  expect(DeliveryQuery.parse(filters)).toEqual({ ...filters, limit: 50, offset: 0 });
  expect(DeliveryQuery.parse({ before: pending.id }).before).toBe(pending.id);
  for (const wrong of [
    { limit: "0" },
    { limit: "201" },
    { status: "lost" },
    { before: "x" },
    { before: pending.id, offset: "1" },
    { page: "1" },
  ]) {
    expect(DeliveryQuery.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
  }
});

test("HOOK-36 a bulk retry hands back 1,000 dead deliveries unless it says otherwise", () => {
  expect(DeliveryRetry.parse({})).toEqual({ limit: 1_000 });
  const retry = { dead_reason: "hook_disabled", settled_before: settled_at, limit: 10_000 };
  expect(DeliveryRetry.parse(retry)).toEqual(retry);
  for (const wrong of [
    { limit: 0 },
    { limit: 10_001 },
    { settled_before: "yesterday" },
    { settled_before: null },
    { dead_reason: "bad luck" },
    { status: "dead" },
  ]) {
    expect(DeliveryRetry.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
  }
});

test("HOOK-36 a test may name a selector and a value, and nothing else", () => {
  expect(HookTest.parse({})).toEqual({});
  expect(HookTest.parse({ selector: "task:*", value: null })).toEqual({
    selector: "task:*",
    value: null,
  });
  expect(HookTest.safeParse({ selector: null }).success).toBe(false);
  expect(HookTest.safeParse({ envelope: {} }).success).toBe(false);
});
