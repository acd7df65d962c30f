import { expect, test } from "vitest";
import { assignedRights, changedRights } from "./copy-rights.ts";

test("AUTH-35 an assignment says whether rights are checked, and which tasks are granted", () => {
  expect(assignedRights({ enforced: false, task_grants: ["*"] }, 2)).toBeUndefined();
  expect(assignedRights({ enforced: true, task_grants: ["*"] }, 2)).toEqual({
    task_grants: ["*"],
    hold: false,
  });
  expect(assignedRights({ enforced: true, task_grants: ["a", "b"], later: 1 }, 2)).toEqual({
    task_grants: ["a", "b"],
    hold: false,
  });
});

test("AUTH-35 WRK-3 a missing authz grants nothing, but that of a server of protocol 1 is open", () => {
  const nothing = { task_grants: [], hold: false };
  expect(assignedRights(undefined, 2)).toEqual(nothing);
  expect(assignedRights(undefined, 3)).toEqual(nothing);
  expect(assignedRights(undefined, 1)).toBeUndefined();
});

test("AUTH-35 an authz that cannot be read grants nothing, whatever the server speaks", () => {
  const unreadable = [
    null,
    "open",
    {},
    { enforced: false },
    { enforced: "false", task_grants: ["*"] },
    { enforced: true, task_grants: "*" },
    { enforced: true, task_grants: [1] },
  ];
  for (const authz of unreadable) {
    for (const protocol of [1, 2]) {
      expect(assignedRights(authz, protocol), JSON.stringify(authz)).toEqual({
        task_grants: [],
        hold: false,
      });
    }
  }
});

test("AUTH-36 a change holds only where it says so, and one that cannot be read grants nothing", () => {
  expect(changedRights({ task_grants: ["a"] })).toEqual({ task_grants: ["a"], hold: false });
  expect(changedRights({ task_grants: [], hold: true })).toEqual({ task_grants: [], hold: true });
  const broken = { task_grants: "*" } as unknown as Parameters<typeof changedRights>[0];
  expect(changedRights(broken)).toEqual({ task_grants: [], hold: false });
});
