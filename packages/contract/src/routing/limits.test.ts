import { expect, test } from "vitest";
import { bucketView, resolveLimits } from "./limits.ts";

function resolved(declared: unknown, input: unknown, routing_input: Record<string, unknown> = {}) {
  return resolveLimits(declared, {
    workflow: "shop/order",
    inputs: { input, routing_input },
    hide: (text) => `sealed ${text.length}`,
    digest: () => "short",
  });
}

const byTenant = { kind: "concurrency", count: 2, key: { kind: "input", path: "tenant" } };

test("FLW-4 keys are compared as text, and absent values are one bucket", () => {
  const bucketOf = (input: unknown) => resolved([byTenant], input).limits?.[0]?.bucket;
  expect(bucketOf({ tenant: 1 })).toBe(bucketOf({ tenant: "1" }));
  expect(bucketOf({})).toBe(bucketOf({ tenant: null }));
  expect(bucketOf({})).not.toBe(bucketOf({ tenant: "" }));
  expect(bucketView(bucketOf({ tenant: "x".repeat(999) }) ?? "").key).toBe("(long value)");
});

test("FLW-4 a list or an object as a key fails, of routing input without saying of what", () => {
  const ofInput = resolved([byTenant], { tenant: ["a"] });
  expect(ofInput.failure).toMatchObject({
    type: "AffinityResolutionError",
    message:
      'limit concurrency(2, { key: input("tenant") }) needs input "tenant" to be a text, a number or a boolean, and it is a list or an object',
    details: { input: "tenant", reason: "invalid" },
  });
  const hidden = [{ ...byTenant, key: { kind: "routing_input", path: "region" } }];
  const ofRouting = resolved(hidden, {}, { region: {} });
  expect(ofRouting.failure).toMatchObject({
    message: "routing constraint unsatisfied",
    details: null,
  });
  const [limit] = resolved(hidden, {}, { region: "eu-1" }).limits ?? [];
  expect(limit?.bucket).not.toContain("eu-1");
  expect(bucketView(limit?.bucket ?? "").key).toBe("(routing input)");
});

test("FLW-4 equal limits count once; one that this server does not know is waited for", () => {
  expect(resolved([byTenant, byTenant], {}).limits).toHaveLength(1);
  expect(resolved([{ kind: "later" }], {}).limits).toMatchObject([{ kind: "limit" }]);
});
