import { expect, test } from "vitest";
import { CHARGE, hookedServer, RUN } from "../handlers/testing/hooked-server.ts";
import { TargetJudge } from "./target-judge.ts";

async function judging(auth: object = {}) {
  const t = await hookedServer({ auth });
  const { accounts } = t.server.engine;
  const config = { security: { auth: { task_permissions: true } } } as never;
  return { t, judge: new TargetJudge({ ports: { store: t.store, config }, accounts }) };
}

test("HOOK-29 a try is judged by account, then target, then all that running it takes", async () => {
  const { judge } = await judging();
  const judged = async (principal: string, workflow: string) => {
    const { problem } = await judge.forDelivery({ principal, workflow });
    return problem && [problem.code, problem.details];
  };
  const nothing = "default/nothing";
  expect(await judged("gone", nothing)).toEqual(["principal_not_found", { principal: "gone" }]);
  expect(await judged("user", nothing)).toEqual([
    "principal_not_service_account",
    { principal: "user" },
  ]);
  expect(await judged("banned", nothing)).toEqual(["principal_banned", { principal: "banned" }]);
  expect(await judged("off", nothing)).toEqual(["principal_disabled", { principal: "off" }]);
  expect(await judged("poor", nothing)).toEqual(["target_not_found", { workflow: nothing }]);
  expect(await judged("poor", "default/pay")).toEqual([
    "principal_not_permitted",
    { principal: "poor", missing_permissions: [RUN, CHARGE] },
  ]);
  expect(await judged("half", "default/pay")).toEqual([
    "principal_not_permitted",
    { principal: "half", missing_permissions: [CHARGE] },
  ]);
  expect(await judged("bot", "default/pay")).toBeUndefined();
});

test("HOOK-29 HOOK-44 what may be run comes with its newest version and the id of the account", async () => {
  const { judge, t } = await judging();
  const bot = await t.store.identities.findBySubject("bot", "engine");
  for (const judged of [
    await judge.forDelivery({ principal: "bot", workflow: "default/pay" }),
    await judge.forRequest({ principal: "bot", workflow: "default/pay" }),
  ]) {
    expect(judged.target?.run_as).toBe(bot?.id);
    expect(judged.target?.version.record).toMatchObject({ name: "pay", version: 1 });
  }
});

test("HOOK-46 with authorization off no account is looked at", async () => {
  const { judge } = await judging({ enabled: false });
  const { target } = await judge.forDelivery({ principal: "gone", workflow: "default/pay" });
  expect(target?.run_as).toBeNull();
  const { problem } = await judge.forDelivery({ principal: "gone", workflow: "default/no" });
  expect(problem?.code).toBe("target_not_found");
  expect(await judge.problems({ principal: "gone", workflow: "default/pay" })).toEqual([]);
});

test("HOOK-31 what says nothing about account or target is no verdict", async () => {
  const { t } = await judging();
  const away = new Error("the database is away");
  const judge = new TargetJudge({
    ports: { store: t.store, config: {} as never },
    accounts: { areChecked: true, find: () => Promise.reject(away) },
  });
  const hook = { principal: "bot", workflow: "default/pay" };
  await expect(judge.forDelivery(hook)).rejects.toBe(away);
  await expect(judge.problems(hook)).rejects.toBe(away);
});
