import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { EngineError } from "@engine/contract";
import { expect, onTestFinished, test, vi } from "vitest";
import { type App, createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import { listen } from "./listen.ts";
import type { Speak } from "./reply.ts";

const routes = {
  tools: {
    speak: {
      method: "POST",
      path: "/speak",
      summary: "-",
      permission: { kind: "grant", grant: "tools:read" },
      effect: "write",
      bodyLimit: 100,
      answers: { 202: { raw: null, meaning: "-" } },
      speaks: ["text/plain"],
    },
  },
} as const satisfies RouteTable;

interface Spoken {
  readonly url: string;
  readonly app: App;
  /** As two seconds pass. */
  readonly look: () => void;
  /** As one second passes. */
  readonly wait: () => void;
  /** Those for whom that second has begun. */
  readonly waiting: () => number;
}

async function speaking(
  speak: Speak,
  { mayAsk = () => true }: { readonly mayAsk?: () => boolean } = {},
): Promise<Spoken> {
  const repeats: { ms: number; run: () => void }[] = [];
  const timer = (ms: number, run: () => void) => {
    repeats.push({ ms, run });
    return () =>
      void repeats.splice(0, repeats.length, ...repeats.filter((one) => one.run !== run));
  };
  const pass = (ms: number) => () => {
    for (const one of repeats.filter((repeat) => repeat.ms === ms)) one.run();
  };
  const waiting = () => repeats.filter(({ ms }) => ms === 1_000).length;
  const caller = () => {
    if (!mayAsk()) throw new EngineError("permission_denied", "not any more");
    return { principal: "ann", rights: undefined, again: caller } as never;
  };
  const app = createApp({
    routes,
    handlers: { tools: { speak: async () => ({ speak }) } },
    authorize: caller,
    log: { error: () => {} },
    ids: () => "r-1",
    pingTimer: timer,
    standingTimer: timer,
  });
  const { url } = await listen(app, { host: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  return { url: `${url}/speak`, app, look: pass(2_000), wait: pass(1_000), waiting };
}

const json = { "content-type": "application/json" };

test("the body is left for what speaks, and the answer is its own, with the headers that all have", async () => {
  const { url } = await speaking(async (request, response) => {
    response.writeHead(418, { "content-type": "text/plain" });
    response.end(`heard ${await text(request)}`);
  });
  const answered = await fetch(url, { method: "POST", headers: json, body: "{ no JSON" });
  expect([answered.status, await answered.text()]).toEqual([418, "heard { no JSON"]);
  expect(answered.headers.get("x-request-id")).toBe("r-1");
  expect(answered.headers.get("x-content-type-options")).toBe("nosniff");
});

test("NET-1 what is announced as too large, or is no JSON, is refused before anything is said", async () => {
  const speak = vi.fn<Speak>(async (_, response) => void response.end());
  const { url } = await speaking(speak);
  const sends = (body: string, headers: Record<string, string> = json) =>
    fetch(url, { method: "POST", headers, body });
  expect((await sends("x".repeat(101))).status).toBe(413);
  expect((await sends("x", { "content-type": "text/xml" })).status).toBe(415);
  expect((await fetch(url)).status).toBe(405);
  expect(speak).not.toHaveBeenCalled();
});

test("AUTH-58 a caller who may not ask any more loses what still waits", async () => {
  let mayAsk = true;
  const { url, look } = await speaking(
    async (_, response) => {
      response.writeHead(200);
      response.write("first\n");
    },
    { mayAsk: () => mayAsk },
  );
  const answered = await fetch(url, { method: "POST", headers: json, body: "{}" });
  const reading = answered.text();
  look();
  mayAsk = false;
  look();
  await expect(reading).rejects.toThrow();
});

test("a server that stops leaves it a second for its last words, then the connection ends", async () => {
  const heard: ServerResponse[] = [];
  const { url, app, wait, waiting } = await speaking(async (_, response) => {
    heard.push(response);
    response.writeHead(200);
    response.write("first ");
  });
  const ask = async () => {
    const answered = await fetch(url, { method: "POST", headers: json, body: "{}" });
    return answered.text();
  };
  const quick = ask();
  const slow = ask();
  slow.catch(() => undefined);
  await vi.waitFor(() => expect(heard).toHaveLength(2));
  const closing = app.close();
  await vi.waitFor(() => expect(waiting()).toBe(2));
  heard[0]?.end("and last");
  expect(await Promise.race([quick, slow])).toBe("first and last");
  wait();
  expect((await Promise.allSettled([quick, slow])).map(({ status }) => status).sort()).toEqual([
    "fulfilled",
    "rejected",
  ]);
  // Those that rest are the client's.
  app.server.closeAllConnections();
  await closing;
});

test("a reader that leaves is told to what speaks, which may write on without harm", async () => {
  const closed = Promise.withResolvers<void>();
  const { url } = await speaking(async (_, response) => {
    response.writeHead(200);
    response.write("first");
    await once(response, "close");
    response.write("to nobody");
    closed.resolve();
  });
  const leave = new AbortController();
  await fetch(url, { method: "POST", headers: json, body: "{}", signal: leave.signal });
  leave.abort();
  await closed.promise;
});
