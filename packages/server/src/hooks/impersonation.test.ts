import type { HookChange, HookRow } from "@engine/store";
import { expect, test } from "vitest";
import { changesIn, IMPERSONATION, impersonated } from "./impersonation.ts";

const row: HookRow = {
  ...{ id: "h", name: "page", enabled: false, selectors: ["execution:*", "task:a:*"] },
  ...{ workflow: "ops/page", principal: "bot", max_attempts: 5, revision: 1 },
  ...{ owner_type: "user", owner_ref: null, created_at: 0, created_by: null },
  ...{ updated_at: 0, updated_by: null },
};

test("HOOK-40 which requests take the right to be the account", () => {
  const { update: _, ...requests } = IMPERSONATION;
  expect(requests).toEqual({
    create: "always",
    test: "always",
    retry: "always",
    retryMany: "always",
    get: "never",
    list: "never",
    deliveries: "never",
    delivery: "never",
    delete: "never",
  });
});

test.each<[HookChange, string | null]>([
  [{}, null],
  [{ enabled: true }, "bot"],
  [{ max_attempts: 6 }, null],
  [{ workflow: "ops/other" }, "bot"],
  [{ principal: "other" }, "other"],
  [{ principal: "other", workflow: "ops/other" }, "other"],
  [{ selectors: ["task:a:*"] }, "bot"],
  [{ max_attempts: 6, enabled: true }, "bot"],
])("HOOK-40 HOOK-41 the change %j makes it run as %j", (change, account) => {
  expect(impersonated(row, change)).toBe(account);
});

test("HOOK-40 a hook that is on already, or is turned off, runs as nobody because of it", () => {
  const on = { ...row, enabled: true };
  expect(changesIn(on, { enabled: true })).toEqual({});
  expect(impersonated(on, { enabled: false })).toBeNull();
});

test("HOOK-41 what a hook has already is no change, selectors in whatever order", () => {
  const { enabled, selectors, workflow, principal, max_attempts } = row;
  const same = { enabled, workflow, principal, max_attempts };
  const sets = [selectors, selectors.toReversed(), [...selectors, ...selectors]];
  for (const given of sets) expect(changesIn(row, { ...same, selectors: given })).toEqual({});
  expect(changesIn(row, { ...same, selectors: ["task:a:*"], max_attempts: 6 })).toEqual({
    selectors: ["task:a:*"],
    max_attempts: 6,
  });
});
