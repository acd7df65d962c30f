import type { DeclaredHook } from "@engine/contract";
import type { HookRow } from "@engine/store";
import { expect, test } from "vitest";
import { reconcileHooks } from "./reconcile-hooks.ts";

const page: DeclaredHook = {
  ...{ name: "page", selectors: ["execution:a:b:failed", "task:a:b:*"] },
  ...{ workflow: "ops/page", principal: "bot", max_attempts: 5 },
};
const row: HookRow = {
  ...{ ...page, id: "h", enabled: false, revision: 3 },
  ...{ owner_type: "workflow", owner_ref: "a/b", created_at: 0, created_by: "ann" },
  ...{ updated_at: 0, updated_by: null },
};
const NOTHING = { created: [], changed: [], deleted: [] };

test("HOOK-49 a hook that is new is created", () => {
  expect(reconcileHooks([], [page])).toEqual({ ...NOTHING, created: [page] });
});

test("HOOK-49 one that differs is changed in what differs", () => {
  const declared = { ...page, workflow: "ops/ask", max_attempts: 6 };
  expect(reconcileHooks([row], [declared])).toEqual({
    ...NOTHING,
    changed: [{ row, change: { workflow: "ops/ask", max_attempts: 6 } }],
  });
});

test("HOOK-41 HOOK-49 one that is equal stays, in whichever order its selectors are, and enabled or not", () => {
  const turned = { ...page, selectors: page.selectors.toReversed() };
  for (const same of [page, turned]) expect(reconcileHooks([row], [same])).toEqual(NOTHING);
});

test("HOOK-49 one that is gone is deleted, and another name is another hook", () => {
  expect(reconcileHooks([row], [])).toEqual({ ...NOTHING, deleted: [row] });
  const other = { ...page, name: "other" };
  expect(reconcileHooks([row], [other])).toEqual({ ...NOTHING, created: [other], deleted: [row] });
});

test("HOOK-49 equal declarations are one, different ones of one name are refused", () => {
  expect(reconcileHooks([], [page, { ...page }]).created).toEqual([page]);
  expect(() => reconcileHooks([], [page, { ...page, max_attempts: 6 }])).toThrow(
    expect.objectContaining({ code: "invalid_input", message: expect.stringMatching(/name page/) }),
  );
});
