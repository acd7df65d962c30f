import { EngineError, type Permission, type Rights } from "@engine/contract";
import { expect, test } from "vitest";
import { owedBy, permitOf } from "./permit.ts";

const grant = (text: string): Permission => ({ kind: "grant", grant: text });
const run = (workflow: string): Permission => ({ kind: "run", workflow });
const scoped = (text: string): Permission => ({ kind: "scoped", grant: text });
const all = (...of: Permission[]): Permission => ({ kind: "all", of });
const any = (...of: Permission[]): Permission => ({ kind: "any", of });

/** Somebody who holds just these, word for word. */
function holding(...held: string[]): Rights {
  return {
    holds: (permission) => held.includes(permission),
    seenBy: () => (held.includes("shop only") ? [{ ns: "shop" }] : []),
  };
}

function asked(
  permission: Permission,
  params: Record<string, string>,
  rights?: Rights,
  headers: Record<string, string> = {},
) {
  const names = Object.keys(params).map((name) => `{${name}}`);
  return permitOf(owedBy({ permission, path: `/${names.join("/")}` }), params, headers, rights);
}

function missing(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (error instanceof EngineError) return error.details?.["missing_permissions"];
    throw error;
  }
  return [];
}

const params = { ns: "shop", wf: "pay" };

test("AUTH-5 what the path decides is decided by it, and nothing is left to ask", () => {
  const permission = grant("workflow:{ns}:{wf}:run");
  expect(asked(permission, params).isSettled).toBe(true);
  expect(asked(permission, params, holding("workflow:shop:pay:run")).isSettled).toBe(true);
  expect(missing(() => asked(permission, params, holding()))).toEqual(["workflow:shop:pay:run"]);
  for (const kind of ["open", "identity", "worker"] as const) {
    expect(asked({ kind }, {}, holding()).isSettled).toBe(true);
  }
});

test("AUTH-7 what the path leaves open is settled by a demand, and only by a whole one", () => {
  const permission = all(grant("execution:*:read"), grant("workflow:{ns}:{wf}:read"));
  for (const rights of [undefined, holding("execution:*:read", "workflow:shop:pay:read")]) {
    const permit = asked(permission, {}, rights);
    expect(permit.isSettled).toBe(false);
    expect(() => permit.demand({ ns: "shop" })).toThrow("a demand leaves {wf} open");
    expect(permit.isSettled).toBe(false);
    permit.demand(params);
    expect(permit.isSettled).toBe(true);
  }
});

test("AUTH-10 a refusal names everything that is missing at its step, in the order of the row", () => {
  const permission = all(grant("a:{name}:b"), run("{ns}/{wf}"), grant("principal:{run_as}:use"));
  const path = asked(permission, { name: "n" }, holding("a:n:b"));
  expect(missing(() => asked(permission, { name: "x" }, holding("a:n:b")))).toEqual(["a:x:b"]);
  expect(missing(() => path.demand({ ...params, run_as: "bot" }))).toEqual([
    "workflow:shop:pay:run",
    "principal:bot:use",
  ]);
  // Nothing to guard where there is no account.
  expect(missing(() => path.demand({ ...params, run_as: null }))).toEqual([
    "workflow:shop:pay:run",
  ]);
  expect(path.isSettled).toBe(false);
});

test("every subject of a demand has to be allowed", () => {
  const permit = () =>
    asked(grant("workflow:{ns}:*:register"), {}, holding("workflow:a:*:register"));
  expect(missing(() => permit().demand({ ns: "a" }))).toEqual([]);
  expect(missing(() => permit().demand({ ns: "a" }, { ns: "b" }))).toEqual([
    "workflow:b:*:register",
  ]);
  const none = permit();
  none.demand();
  expect(none.isSettled).toBe(true);
});

test("of alternatives one is enough, also one that only the record decides", () => {
  const permission = any(grant("workflow:{ns}:*:read"), grant("own:{id}:read"));
  expect(asked(permission, { ns: "shop" }, holding("workflow:shop:*:read")).isSettled).toBe(false);
  const permit = asked(permission, { ns: "shop" }, holding("own:1:read"));
  expect(missing(() => permit.demand({ id: "1" }))).toEqual([]);
  expect(missing(() => permit.demand({ id: "2" }))).toEqual(["workflow:shop:*:read", "own:2:read"]);
});

test("a record is looked up only for callers who may not do everything", async () => {
  const permission = grant("workflow:{ns}:{wf}:read");
  let looks = 0;
  const find = async () => {
    looks++;
    return params;
  };
  const free = asked(permission, {});
  await free.demandOf(find);
  expect([free.isSettled, looks]).toEqual([true, 0]);
  const bound = asked(permission, {}, holding("workflow:shop:pay:read"));
  await bound.demandOf(find);
  expect([bound.isSettled, looks]).toEqual([true, 1]);
  await expect(asked(permission, {}, holding()).demandOf(find)).rejects.toMatchObject({
    code: "permission_denied",
  });
  const gone = asked(permission, {}, holding());
  await expect(gone.demandOf(() => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  expect(gone.isSettled).toBe(false);
});

test("AUTH-33 a list is settled when its handler has asked for what is seen", () => {
  const permission = all(grant("execution:*:read"), scoped("workflow:{ns}:{wf}:read"));
  const permit = asked(permission, {}, holding("execution:*:read", "shop only"));
  expect(permit.isSettled).toBe(false);
  expect(() => permit.seen("schedule")).toThrow("no scoped permission of the row");
  expect(permit.seen("workflow")).toEqual([{ ns: "shop" }]);
  expect(permit.isSettled).toBe(true);
  const everything = asked(permission, {});
  expect(everything.seen("workflow")).toBeUndefined();
  expect(everything.isSettled).toBe(true);
  // One who sees everything by a grant is not filtered either.
  const any = { holds: () => true, seenBy: () => [{ ns: "shop" }, {}] };
  expect(asked(permission, {}, any).seen("workflow")).toBeUndefined();
  expect(missing(() => asked(permission, {}, holding("execution:*:read")))).toEqual([
    "workflow:*:*:read",
  ]);
});

test("AUTH-31 running takes a whole list: the path decides of its first entry, the handler asks for all", async () => {
  const permission = run("{ns}/{wf}");
  expect(missing(() => asked(permission, params, holding()))).toEqual(["workflow:shop:pay:run"]);
  const list = ["workflow:shop:pay:run", "workflow:shop:pay:task:a:execute", "workflow:x:y:run"];
  const permit = asked(permission, params, holding("workflow:shop:pay:run"));
  expect(permit.isSettled).toBe(false);
  await expect(permit.demandRun(() => list)).rejects.toMatchObject({
    code: "permission_denied",
    details: { missing_permissions: list.slice(1) },
  });
  expect(permit.isSettled).toBe(false);
  const whole = asked(permission, params, holding(...list));
  await whole.demandRun(async () => list);
  expect(whole.isSettled).toBe(true);
  // Who may do everything is asked all the same, and costs no lookup.
  const open = asked(permission, params);
  expect(open.isSettled).toBe(false);
  await open.demandRun(() => expect.unreachable("nobody has to know the list"));
  expect(open.isSettled).toBe(true);
});

test("AUTH-10 AUTH-31 what is missing of a workflow that the path does not name is told at once, its tasks to who knows it", async () => {
  const permission = run("{ns}/{wf}");
  const list = ["workflow:shop:pay:run", "workflow:shop:pay:task:a:execute"];
  const told = async (...held: string[]) =>
    asked(permission, {}, holding(...held))
      .demandToRun(params, () => list)
      .then(() => [])
      .catch(({ details }) => details.missing_permissions);
  expect(await told()).toEqual(list.slice(0, 1));
  expect(await told("workflow:shop:pay:read")).toEqual(list);
  expect(await told("workflow:shop:pay:run")).toEqual(list.slice(1));
  expect(await told(...list)).toEqual([]);
  const open = asked(permission, {});
  await open.demandToRun(params, () => expect.unreachable("nobody has to know the list"));
  expect(open.isSettled).toBe(true);
});

test("AUTH-10 what is missing is told in the row's order, the tasks where the row has the run", async () => {
  const permission = all(grant("a:{ns}"), run("{ns}/{wf}"), grant("b:{name}:c"));
  const list = ["workflow:shop:pay:run", "workflow:shop:pay:task:a:execute"];
  const asking = asked(permission, {}, holding("workflow:shop:pay:read"));
  await expect(asking.demandToRun({ ...params, name: "x" }, () => list)).rejects.toMatchObject({
    details: { missing_permissions: ["a:shop", ...list, "b:x:c"] },
  });
});

test("AUTH-59 a caller without the grant to read is let in to what is its own", () => {
  const permission = any(
    grant("workflow:{ns}:{wf}:read"),
    all(grant("workflow:{ns}:{wf}:run"), { kind: "own" }),
  );
  const runs = holding("workflow:shop:pay:run");
  expect(missing(() => asked(permission, params, runs).demand({ own: null }))).toEqual([]);
  expect(missing(() => asked(permission, params, runs).demand({ own: "another's" }))).toEqual([
    "workflow:shop:pay:read",
  ]);
  const reads = holding("workflow:shop:pay:read");
  expect(missing(() => asked(permission, params, reads).demand({ own: "another's" }))).toEqual([]);
  expect(missing(() => asked(permission, params, holding()))).toEqual([
    "workflow:shop:pay:read",
    "workflow:shop:pay:run",
  ]);
});

test("AUTH-59 a header takes a permission of its own, and only where it is sent", () => {
  const permission: Permission = { kind: "when", header: "X-Aim", grant: "worker:{value}:target" };
  const aimed = { "x-aim": "w$&1" };
  expect(asked(permission, {}, holding()).isSettled).toBe(true);
  expect(missing(() => asked(permission, {}, holding(), aimed))).toEqual(["worker:w$&1:target"]);
  expect(missing(() => asked(permission, {}, holding("worker:w$&1:target"), aimed))).toEqual([]);
});

test("AUTH-58 what was demanded is judged again by what the caller holds by now", async () => {
  const permission = all(grant("workflow:{ns}:{wf}:read"), run("{ns}/{wf}"));
  const all3 = [
    "workflow:shop:pay:read",
    "workflow:shop:pay:run",
    "workflow:shop:pay:task:a:execute",
  ];
  const permit = asked(permission, {}, holding(...all3));
  permit.demand(params);
  await permit.demandRun(() => all3.slice(1));
  expect(missing(() => permit.again(holding(...all3)))).toEqual([]);
  expect(missing(() => permit.again(holding(...all3.slice(0, 2))))).toEqual(all3.slice(2));
  expect(missing(() => permit.again(holding(...all3.slice(1))))).toEqual(all3.slice(0, 1));
});
