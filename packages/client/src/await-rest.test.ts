import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import type { ResultOptions } from "./execution-handle.ts";
import { type Reply, replies, scriptedEngine } from "./testing/scripted-engine.ts";
import type { FetchResponse } from "./transport.ts";
import { ResultTimeoutError } from "./workflow-errors.ts";

const { broken, completed, paused, refused, running } = replies;
const ASKED = "GET /executions/e1?mode=sync&timeout=30";

/** A result that is awaited over the written replies. */
function awaited(script: Reply[], options: ResultOptions = {}) {
  const engine = scriptedEngine(...script);
  const result = engine.client.workflow("shop/checkout").get("e1").result(options);
  // A test looks at it later; until then a rejection is nobody's.
  result.catch(() => undefined);
  return { ...engine, result };
}

/** A connection on which nothing ever comes, which only the client ends. */
const silent: Reply = ({ signal }) =>
  new Promise<FetchResponse>((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

test("EXE-90 a result survives broken connections, a server that restarts and a proxy without one", async () => {
  const proxy: Reply = () => new Response("<html>Bad Gateway", { status: 502 });
  const { result, timing, sent } = awaited([
    broken,
    refused(503, "unavailable"),
    proxy,
    completed({ paid: true }),
  ]);
  expect([await timing.fire(), await timing.fire(), await timing.fire()]).toEqual([50, 100, 200]);
  expect(await result).toEqual({ paid: true });
  expect(sent.map(({ call }) => call)).toEqual([ASKED, ASKED, ASKED, ASKED]);
  expect(timing.pending).toBe(0);
});

test("EXE-90 an answer that breaks off in the middle is asked for again", async () => {
  const cut: Reply = () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"execution_id":'));
        controller.error(new TypeError("terminated"));
      },
    });
    return new Response(body, { status: 200 });
  };
  const { result, timing } = awaited([cut, completed("done")]);
  await timing.fire();
  expect(await result).toBe("done");
});

test("EXE-90 the time between two questions grows to five seconds and no further", async () => {
  const { result, timing } = awaited([...Array<Reply>(9).fill(broken), completed("late")]);
  timing.chance = 1;
  const slept = [];
  for (let i = 0; i < 9; i++) slept.push(await timing.fire());
  expect(slept).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
  expect(await result).toBe("late");
});

test("EXE-90 a wait that the server ended at its time goes on at once", async () => {
  const waited: Reply = (request, timing) => {
    timing.time += 30_000;
    return running(request, timing);
  };
  const { result, sent } = awaited([waited, waited, completed("done")]);
  expect(await result).toBe("done");
  expect(sent).toHaveLength(3);
});

test("EXE-90 a server that shuts down and answers all waits at once is not flooded", async () => {
  const { result, timing } = awaited([running, running, broken, completed("done")]);
  expect([await timing.fire(), await timing.fire(), await timing.fire()]).toEqual([50, 100, 200]);
  expect(await result).toBe("done");
});

test("EXE-90 a connection that stays silent is given up and the question asked anew", async () => {
  const { result, timing } = awaited([silent, completed("done")]);
  expect(await timing.fire(60_000)).toBe(40_000);
  await timing.fire();
  expect(await result).toBe("done");
});

test("EXE-90 a refusal is thrown as it came and not asked again", async () => {
  const { result, sent } = awaited([refused(404, "not_found")]);
  await expect(result).rejects.toEqual(new EngineError("not_found", "it is not_found"));
  expect(sent).toHaveLength(1);
});

test("EXE-90 a timeout ends the wait and says how to go on with it", async () => {
  const { result, timing, sent } = awaited([broken, silent], { timeout: "20s" });
  await timing.fire();
  expect(await timing.fire(20_000)).toBe(20_000 - 50);
  const error = await result.then(
    () => expect.unreachable("there was no answer"),
    (thrown: ResultTimeoutError) => thrown,
  );
  expect(error).toBeInstanceOf(ResultTimeoutError);
  expect(error.executionId).toBe("e1");
  expect(error.message).toContain("shop/checkout has not ended within 20000 ms and goes on");
  expect(error.message).toContain('client.workflow("shop/checkout").get("e1").result()');
  expect(error.cause).toMatchObject({ code: "unavailable" });
  expect(sent[1]?.call).toBe("GET /executions/e1?mode=sync&timeout=19.95");
});

test("EXE-90 a timeout that is no length of time is refused before anything is sent", async () => {
  for (const timeout of [0, -1, Number.NaN]) {
    const { result, sent } = awaited([], { timeout });
    await expect(result).rejects.toThrow(/timeout cannot be .* a text such as "30s"/);
    expect(sent).toEqual([]);
  }
});

test("EXE-90 the caller's signal ends the wait with its reason, while it asks and while it is away", async () => {
  const reason = new Error("enough");
  const leaveAsking = new AbortController();
  const asking = awaited([silent], { signal: leaveAsking.signal });
  leaveAsking.abort(reason);
  await expect(asking.result).rejects.toBe(reason);
  expect(asking.timing.pending).toBe(0);

  const leaveAway = new AbortController();
  const away = awaited([broken], { signal: leaveAway.signal });
  expect(await away.timing.armed()).toBe(50);
  leaveAway.abort(reason);
  await expect(away.result).rejects.toBe(reason);
  expect(away.timing.pending).toBe(0);

  const before = awaited([], { signal: AbortSignal.abort(reason) });
  await expect(before.result).rejects.toBe(reason);
  expect(before.sent).toEqual([]);
});

test("EXE-90 throughPauses waits for whoever answers the pause", async () => {
  const script = [paused(), paused(), running, completed("approved")];
  const { result, timing } = awaited(script, { throughPauses: true });
  expect([await timing.fire(), await timing.fire(), await timing.fire()]).toEqual([50, 100, 200]);
  expect(await result).toBe("approved");
});
