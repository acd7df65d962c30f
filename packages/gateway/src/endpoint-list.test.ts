import { expect, test } from "vitest";
import { settled } from "./testing/manual-timing.ts";
import { resolvedService } from "./testing/resolved-service.ts";
import { ScriptedList } from "./testing/scripted-list.ts";

const SECOND = 1000;

test("GW-16 nothing is fetched before it is asked for, and an idle list makes no calls", async () => {
  const scripted = new ScriptedList();
  await scripted.timing.pass(3600 * SECOND);
  expect(scripted.asked).toEqual([]);
  const filled = await ScriptedList.with(["invoice"]);
  await filled.timing.pass(3600 * SECOND);
  expect(filled.asked).toHaveLength(1);
  expect(filled.timing.pending).toBe(0);
});

test("GW-16 the list is asked for by its tag, and with the authorization of whoever caused it", async () => {
  const scripted = new ScriptedList();
  const first = scripted.list.admit("invoice", "Bearer one");
  await scripted.answer(["invoice"], '"1"');
  await first;
  await scripted.timing.pass(61 * SECOND);
  expect(await scripted.admit("invoice", "Bearer two")).toBe("passed on");
  await scripted.answerUnchanged();
  expect(scripted.asked).toMatchObject([
    { etag: undefined, authorization: "Bearer one" },
    { etag: '"1"', authorization: "Bearer two" },
  ]);
  expect(scripted.list.ageMs).toBe(0);
  expect(await scripted.admit("invoice")).toBe("passed on");
  expect(scripted.asked).toHaveLength(2);
});

test("GW-17 up to its TTL a list is used as it is", async () => {
  const scripted = await ScriptedList.with(["invoice"]);
  await scripted.timing.pass(60 * SECOND);
  expect(await scripted.admit("invoice")).toBe("passed on");
  expect(scripted.asked).toHaveLength(1);
});

test("GW-17 an older list is used at once, and refreshed once behind it for all who come meanwhile", async () => {
  const scripted = await ScriptedList.with(["invoice"]);
  await scripted.timing.pass(60 * SECOND + 1);
  for (let n = 0; n < 20; n++) expect(await scripted.admit("invoice")).toBe("passed on");
  expect(scripted.asked).toHaveLength(2);
  await scripted.answer(["refund"]);
  expect(scripted.list.service?.endpoints.map(({ name }) => name)).toEqual(["refund"]);
});

test("GW-17 GW-20 a refresh that fails keeps the old list, and the next request tries again", async () => {
  const scripted = await ScriptedList.with(["invoice"]);
  await scripted.timing.pass(61 * SECOND);
  expect(await scripted.admit("invoice")).toBe("passed on");
  await scripted.fail("upstream_unreachable");
  expect(scripted.condition.error).toBe("upstream_unreachable");
  expect(scripted.list.ageMs).toBe(61 * SECOND);
  expect(await scripted.admit("invoice")).toBe("passed on");
  expect(scripted.asked).toHaveLength(3);
  await scripted.answer(["invoice"]);
  expect(scripted.condition.error).toBeNull();
  expect(scripted.failures).toEqual(["upstream_unreachable"]);
});

test("GW-17 with TTL 0 every request waits for a list, and those that come together for one", async () => {
  const scripted = await ScriptedList.with(["invoice"], 0);
  for (let n = 0; n < 3; n++) {
    const all = [1, 2, 3].map(() => scripted.admit("invoice"));
    await settled();
    expect(scripted.asked).toHaveLength(n + 2);
    await scripted.answer(["invoice"]);
    expect(await Promise.all(all)).toEqual(["passed on", "passed on", "passed on"]);
  }
  const gone = scripted.admit("invoice");
  await scripted.answer([]);
  expect(await gone).toBe("not_found");
});

test("GW-17 with TTL 0 a failed refresh keeps the old list too", async () => {
  const scripted = await ScriptedList.with(["invoice"], 0);
  const passed = scripted.admit("invoice");
  await scripted.fail("unavailable");
  expect(await passed).toBe("passed on");
});

test("GW-18 a colliding name is passed on: the server answers for it", async () => {
  const scripted = new ScriptedList();
  const first = scripted.list.refresh(undefined);
  const collisions = [{ name: "invoice", refs: ["a/invoice", "b/invoice"] }];
  scripted.asked[0]?.answer({ service: resolvedService([], { collisions }), etag: undefined });
  await first;
  expect(await scripted.admit("invoice")).toBe("passed on");
  expect(scripted.asked).toHaveLength(1);
});

test("GW-18 any number of requests for an unknown name are one fetch", async () => {
  const scripted = await ScriptedList.with(["invoice"]);
  const all = Array.from({ length: 100 }, () => scripted.admit("refund"));
  await settled();
  expect(scripted.asked).toHaveLength(2);
  await scripted.answer(["invoice", "refund"]);
  expect(new Set(await Promise.all(all))).toEqual(new Set(["passed on"]));
  expect(await scripted.admit("refund")).toBe("passed on");
  expect(scripted.asked).toHaveLength(2);
});

test("GW-18 an unknown name joins the fetch that is under way, and is then refused by it", async () => {
  const scripted = await ScriptedList.with(["invoice"]);
  await scripted.timing.pass(61 * SECOND);
  await scripted.admit("invoice");
  const refused = scripted.admit("refund");
  await settled();
  expect(scripted.asked).toHaveLength(2);
  await scripted.answer(["invoice"]);
  expect(await refused).toBe("not_found");
});

test("GW-18 a request that comes soon after a forced fetch waits for the next, with all others", async () => {
  const scripted = await ScriptedList.with([]);
  const first = scripted.admit("refund");
  await scripted.timing.pass(40);
  await scripted.answer([]);
  expect(await first).toBe("not_found");
  const waiting = [scripted.admit("refund"), scripted.admit("other")];
  await scripted.timing.pass(100);
  waiting.push(scripted.admit("third"));
  await scripted.timing.pass(149);
  expect(scripted.asked).toHaveLength(2);
  await scripted.timing.pass(1);
  expect(scripted.asked).toHaveLength(3);
  // Registered between the two: nobody is refused by the older list.
  await scripted.answer(["refund"]);
  expect(await Promise.all(waiting)).toEqual(["passed on", "not_found", "not_found"]);
});

test("GW-18 a thousand unknown names in a second are at most five fetches", async () => {
  const scripted = await ScriptedList.with(["invoice"]);
  const outcomes: Promise<string>[] = [];
  for (let n = 0; n < 1000; n++) {
    outcomes.push(scripted.admit(`unknown${n}`));
    await settled();
    await scripted.answer(["invoice"]);
    await scripted.timing.pass(1);
  }
  expect(scripted.asked.length - 1).toBeLessThanOrEqual(5);
  expect(scripted.asked.length - 1).toBeGreaterThanOrEqual(4);
  await scripted.timing.pass(250);
  await scripted.answer(["invoice"]);
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["not_found"]));
});

test("GW-18 unknown names are bounded with TTL 0 too", async () => {
  const scripted = await ScriptedList.with([], 0);
  const first = scripted.admit("refund");
  await scripted.answer([]);
  expect(await first).toBe("not_found");
  void scripted.admit("refund");
  await settled();
  expect(scripted.asked).toHaveLength(2);
});

test("GW-18 a forced fetch that has failed keeps its distance to the next as well", async () => {
  const scripted = await ScriptedList.with([]);
  const first = scripted.admit("refund");
  await scripted.fail("upstream_unreachable");
  expect(await first).toBe("upstream_unreachable");
  const second = scripted.admit("refund");
  await scripted.timing.pass(249);
  expect(scripted.asked).toHaveLength(2);
  await scripted.timing.pass(1);
  await scripted.answer(["refund"]);
  expect(await second).toBe("passed on");
});

test("GW-18 a refresh that begins while a name waits for its turn serves that name", async () => {
  const scripted = await ScriptedList.with(["invoice"]);
  const first = scripted.admit("refund");
  await scripted.answer(["invoice"]);
  await first;
  const waiting = scripted.admit("refund");
  scripted.list.doubt();
  await scripted.admit("invoice");
  expect(scripted.asked).toHaveLength(3);
  await scripted.timing.pass(250);
  expect(scripted.asked).toHaveLength(3);
  await scripted.answer(["invoice", "refund"]);
  expect(await waiting).toBe("passed on");
});

test.each(["unauthenticated", "permission_denied"] as const)(
  "GW-19 where the list is refused with %s the server decides about the request",
  async (code) => {
    const scripted = new ScriptedList();
    const passed = scripted.admit("invoice");
    await scripted.fail(code);
    expect(await passed).toBe("passed on");
    expect(scripted.condition.error).toBe(code);
  },
);

test.each([
  ["upstream_unreachable", "upstream_unreachable"],
  ["unavailable", "upstream_unreachable"],
  ["internal", "upstream_unreachable"],
  ["not_found", "upstream_unreachable"],
  ["upstream_timeout", "upstream_timeout"],
] as const)("GW-19 a forced fetch that ends with %s is answered with %s", async (code, told) => {
  const scripted = new ScriptedList();
  const refused = scripted.list.admit("invoice", undefined).catch((error: unknown) => error);
  await scripted.fail(code);
  expect(await refused).toMatchObject({
    code: told,
    message: expect.not.stringContaining("10.0.0.1"),
  });
});

test("GW-16 a fetch that takes ten seconds is given up", async () => {
  const scripted = new ScriptedList();
  const refused = scripted.admit("invoice");
  await scripted.timing.pass(10 * SECOND - 1);
  expect(scripted.asked[0]?.signal.aborted).toBe(false);
  await scripted.timing.pass(1);
  expect(await refused).toBe("upstream_timeout");
  expect(scripted.asked[0]?.signal.aborted).toBe(true);
});

test("GW-19 a name that the server did not know makes the list stale, even while it is fetched", async () => {
  const scripted = await ScriptedList.with(["invoice"]);
  scripted.list.doubt();
  expect(await scripted.admit("invoice")).toBe("passed on");
  expect(scripted.asked).toHaveLength(2);
  scripted.list.doubt();
  await scripted.answer(["invoice"]);
  expect(await scripted.admit("invoice")).toBe("passed on");
  expect(scripted.asked).toHaveLength(3);
  await scripted.fail("unavailable");
  expect(await scripted.admit("invoice")).toBe("passed on");
  expect(scripted.asked).toHaveLength(4);
  await scripted.answer(["invoice"]);
  expect(await scripted.admit("invoice")).toBe("passed on");
  expect(scripted.asked).toHaveLength(4);
});

test("GW-19 GW-20 a service that is deleted empties the list, and one that comes back fills it", async () => {
  const scripted = await ScriptedList.with(["invoice"]);
  scripted.list.doubt();
  await scripted.admit("invoice");
  await scripted.failMissing();
  expect(scripted.list.service).toBeUndefined();
  expect(scripted.condition.error).toBe("not_found");
  const refused = scripted.list.admit("invoice", undefined).catch((error: unknown) => error);
  await scripted.failMissing();
  expect(await refused).toMatchObject({ code: "not_found", details: { resource: "service" } });
  const passed = scripted.admit("invoice");
  await scripted.timing.pass(250);
  await scripted.answer(["invoice"]);
  expect(await passed).toBe("passed on");
  expect(scripted.condition.error).toBeNull();
});

test("GW-20 a failed fetch is not made good by a server that can be reached", async () => {
  const scripted = new ScriptedList();
  void scripted.list.refresh(undefined);
  await scripted.fail("unauthenticated");
  scripted.condition.unreached();
  expect(scripted.condition.error).toBe("upstream_unreachable");
  scripted.condition.reached();
  expect(scripted.condition.error).toBe("unauthenticated");
});

test("GW-23 closing ends the fetch that is under way", async () => {
  const scripted = new ScriptedList();
  const fetching = scripted.list.refresh(undefined);
  scripted.list.close();
  expect(await fetching).toMatchObject({ code: "unavailable" });
  expect(scripted.timing.pending).toBe(0);
});
