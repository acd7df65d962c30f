import type { ServiceRow, StoredVersion } from "@engine/store";
import { expect, test } from "vitest";
import { changedChoice } from "./service-changes.ts";
import { collisionsOf, endpointOf, endpointsOf, refOf, viewOf } from "./service-view.ts";

const service = (fields: Partial<ServiceRow> = {}): ServiceRow => ({
  ...{ id: "1", name: "billing", description: null, mcp_enabled: false },
  ...{ namespaces: [], workflows: [], exclusions: [], created_at: 0, updated_at: 0 },
  ...fields,
});

/** What the catalog has of a choice: each as `namespace/name`. */
function chosen(...refs: readonly string[]): readonly StoredVersion[] {
  return refs.map((ref) => {
    const [namespace, name] = ref.split("/");
    return {
      record: { namespace, name, version: 1 },
      module_hash: ref,
    } as unknown as StoredVersion;
  });
}

test("SVC-4 an exclusion beats whatever chooses a workflow", () => {
  const row = service({ namespaces: ["shop"], workflows: ["bank/pay"], exclusions: ["bank/pay"] });
  const view = viewOf(row, chosen("bank/pay", "shop/order"));
  expect(endpointsOf(view).map(refOf)).toEqual(["shop/order"]);
});

test("SVC-6 only the name that several workflows have collides, and an exclusion clears it", () => {
  const workflows = chosen("bank/order", "shop/order", "shop/pay");
  const view = viewOf(service({ namespaces: ["shop", "bank"] }), workflows);
  const refs = ["bank/order", "shop/order"];
  expect(endpointsOf(view).map(refOf)).toEqual(["shop/pay"]);
  expect(collisionsOf(view)).toEqual([{ name: "order", refs }]);
  expect(() => endpointOf(view, "order")).toThrow(
    expect.objectContaining({ code: "name_collision", details: { name: "order", refs } }),
  );
  expect(refOf(endpointOf(view, "pay"))).toBe("shop/pay");
  const cleared = viewOf(service({ exclusions: ["bank/order"] }), workflows);
  expect(refOf(endpointOf(cleared, "order"))).toBe("shop/order");
});

test("SVC-3 SVC-23 a service of nothing offers nothing, and entries that match nothing are told", () => {
  const row = service({
    namespaces: ["none", "shop"],
    workflows: ["shop/order", "a/b"],
    exclusions: ["shop/order", "c/d"],
  });
  const view = viewOf(row, chosen("shop/order"));
  expect(endpointsOf(view)).toEqual([]);
  expect(view.unmatched).toEqual({
    namespaces: ["none"],
    workflows: ["a/b"],
    exclusions: ["c/d"],
  });
  expect(() => endpointOf(view, "order")).toThrow(expect.objectContaining({ code: "not_found" }));
});

test("SVC-22 adds come first, then removes; order stays, and what is there already stays once", () => {
  const before = service({ namespaces: ["a", "b"], exclusions: ["x/y"] });
  const after = changedChoice(before, {
    add_namespaces: ["c", "a", "d"],
    remove_namespaces: ["d", "b", "none"],
    add_workflows: ["default/w"],
    remove_exclusions: ["x/y"],
    description: "bills",
    mcp_enabled: true,
  });
  expect(after).toMatchObject({
    ...{ namespaces: ["a", "c"], workflows: ["default/w"], exclusions: [] },
    ...{ description: "bills", mcp_enabled: true },
  });
  expect(changedChoice(after, {})).toEqual(after);
  expect(changedChoice(after, { description: null }).description).toBeNull();
});

test("SVC-2 a list does not grow beyond its limit by changes either", () => {
  const names = (from: number) => Array.from({ length: 600 }, (_, i) => `n${from + i}`);
  const before = changedChoice(service(), { add_namespaces: names(0) });
  expect(() => changedChoice(before, { add_namespaces: names(600) })).toThrow(
    expect.objectContaining({
      code: "invalid_input",
      details: { issues: [expect.objectContaining({ path: "body.add_namespaces" })] },
    }),
  );
});
