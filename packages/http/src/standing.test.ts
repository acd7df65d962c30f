import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request as open } from "node:http";
import { connect } from "node:net";
import { EngineError, type Rights } from "@engine/contract";
import { afterEach, expect, test } from "vitest";
import * as z from "zod";
import type { Caller } from "./authorize.ts";
import { type App, createApp } from "./create-app.ts";
import type { Call, RouteTable } from "./handlers.ts";
import type { Repeat } from "./repeat.ts";
import { answer, type StreamPart } from "./reply.ts";

const grant = { kind: "grant", grant: "thing:{name}:read" } as const;
const routes = {
  things: {
    follow: {
      method: "GET",
      path: "/things/{name}/follow",
      summary: "-",
      permission: grant,
      effect: "read",
      answers: { 200: { raw: "text/event-stream", meaning: "-" } },
      frames: { tick: z.unknown() },
    },
    wait: {
      method: "GET",
      path: "/things/{name}/wait",
      summary: "-",
      permission: { kind: "all", of: [grant, { kind: "grant", grant: "kind:{kind}:read" }] },
      effect: "read",
      answers: { 200: z.unknown() },
    },
    speak: {
      method: "POST",
      path: "/things/{name}/speak",
      summary: "-",
      permission: grant,
      effect: "write",
      answers: { 202: { raw: null, meaning: "-" } },
      speaks: ["text/plain"],
    },
    change: {
      method: "POST",
      path: "/things/{name}",
      summary: "-",
      permission: grant,
      effect: "write",
      answers: { 200: z.unknown() },
    },
    talk: {
      method: "POST",
      path: "/things/{name}/talk",
      summary: "-",
      permission: { kind: "worker" },
      effect: "write",
      body: z.strictObject({ n: z.number() }),
      lines: z.unknown(),
      answers: { 200: { raw: "application/x-ndjson", meaning: "-" } },
    },
  },
} as const satisfies RouteTable;

let app: App | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

function holding(...held: string[]): Rights {
  return { holds: (permission) => held.includes(permission), seenBy: () => [] };
}

const EVERYTHING = ["thing:a:read", "kind:big:read"];
const DENIED = { code: "permission_denied", details: { missing_permissions: ["thing:a:read"] } };
const ENDED = new EngineError("unauthenticated", "the credential has ended", {
  details: { reason: "expired" },
});

/** A server whose only caller may lose what it has, and what its handlers do. */
class World {
  rights: Rights | undefined = holding(...EVERYTHING);
  failure: Error | undefined;
  /** Whether it takes a while to know. */
  isSlow = false;
  asked = 0;
  /** Ends what a handler of `wait` waits for. */
  readonly waited = Promise.withResolvers<unknown>();
  readonly frames: AsyncGenerator<StreamPart>;
  readonly #next: PromiseWithResolvers<StreamPart>[] = [Promise.withResolvers()];
  readonly signals: AbortSignal[] = [];
  readonly done: unknown[] = [];
  isEnded = false;
  readonly #timers = new Map<() => void, number>();
  #base = "";

  constructor() {
    this.frames = this.#frames();
  }

  async start(isOpenToAll = false): Promise<this> {
    const again = () => this.#again();
    const timer: Repeat = (everyMs, run) => {
      this.#timers.set(run, everyMs);
      return () => void this.#timers.delete(run);
    };
    const waits = async ({ permit, signal }: Call) => {
      await permit.demandOf(async () => ({ kind: "big" }));
      this.signals.push(signal);
      return answer(200, await this.waited.promise);
    };
    app = createApp({
      routes,
      handlers: {
        things: {
          follow: (_, { signal }) => {
            this.signals.push(signal);
            return { frames: this.frames };
          },
          wait: (_, call) => waits(call),
          speak: (_, { headers, signal }) => ({
            speak: async (_request, response) => {
              if (headers["x-first"]) response.write(headers["x-first"]);
              this.signals.push(signal);
              await once(response, "close");
            },
          }),
          change: async () => {
            this.done.push("change");
            await this.waited.promise;
            return answer(200, "changed");
          },
          talk: () => ({
            answerLine: async ({ n }) => {
              this.done.push(n);
              if (n < 0) await this.waited.promise;
              return { n };
            },
          }),
        },
      },
      log: { error: (fields) => expect.unreachable(String(fields["err"])) },
      ids: () => "r",
      authorize: () => (isOpenToAll ? { principal: null } : { ...this.#caller(), again }),
      standingTimer: timer,
      pingTimer: timer,
    });
    this.#base = await app.listen({ host: "127.0.0.1", port: 0 });
    return this;
  }

  url(path: string): string {
    return `${this.#base}/things/a${path}`;
  }

  say(part: StreamPart): void {
    this.#next.at(-1)?.resolve(part);
    this.#next.push(Promise.withResolvers());
  }

  /** As two seconds pass. */
  look(): void {
    for (const [run, everyMs] of this.#timers) if (everyMs === 2_000) run();
  }

  /** As a second passes in which nobody reads. */
  last(): void {
    for (const [run, everyMs] of this.#timers) if (everyMs === 1_000) run();
  }

  get timers(): number[] {
    return [...this.#timers.values()];
  }

  #caller(): Caller {
    return { principal: "ada", ...(this.rights && { rights: this.rights }) };
  }

  #again(): Caller | Promise<Caller> {
    this.asked++;
    const { failure } = this;
    if (this.isSlow) {
      return new Promise<Caller>((resolve, reject) => {
        setImmediate(() => (failure ? reject(failure) : resolve(this.#caller())));
      });
    }
    if (failure) throw failure;
    return this.#caller();
  }

  async *#frames(): AsyncGenerator<StreamPart> {
    try {
      for (let at = 0; ; at++) {
        const part = await this.#next[at]?.promise;
        if (part === undefined) return;
        yield part;
      }
    } finally {
      this.isEnded = true;
    }
  }
}

async function follow(world: World) {
  const response = await fetch(world.url("/follow"));
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return { response, read: async () => (await reader?.read())?.value };
}

const tick = (data: unknown) => ({ event: "tick", data });
const LOSSES: readonly (readonly [name: string, lose: (world: World) => void])[] = [
  [
    "a right that was taken away",
    (world) => {
      world.rights = holding();
    },
  ],
  [
    "a credential that has ended",
    (world) => {
      world.failure = ENDED;
    },
  ],
];

/** Some turns of the loop, in which whatever is known at once becomes known. */
async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

for (const [name, lose] of LOSSES) {
  for (const isSlow of [false, true]) {
    const how = `${name}${isSlow ? ", known after a look at the store" : ""}`;

    test(`AUTH-58 after ${how} no frame is served: the stream ends with the error`, async () => {
      const world = await new World().start();
      const { read } = await follow(world);
      world.say(tick(1));
      expect(await read()).toContain("data: 1");
      world.isSlow = isSlow;
      lose(world);
      world.say(tick("secret"));
      const last = (await read()) ?? "";
      const code = world.failure ? "unauthenticated" : "permission_denied";
      expect(last).toMatch(new RegExp(`^event: error\\ndata: \\{"code":"${code}"`));
      expect(last).not.toContain("secret");
      expect(await read()).toBeUndefined();
      expect([world.signals[0]?.aborted, world.timers]).toEqual([
        true,
        expect.not.arrayContaining([15_000]),
      ]);
    });

    test(`AUTH-58 after ${how} an idle stream ends, too`, async () => {
      const world = await new World().start();
      const { read } = await follow(world);
      world.say("begun");
      expect(await read()).toBe(": begun\n\n");
      world.isSlow = isSlow;
      world.look();
      await turns();
      lose(world);
      const before = world.asked;
      world.look();
      world.look();
      // While an answer is awaited, the question is not asked again.
      expect(world.asked).toBe(before + 1);
      expect(await read()).toMatch(/^event: error\n/);
      expect(await read()).toBeUndefined();
      expect(world.signals[0]?.aborted).toBe(true);
    });

    test(`AUTH-58 after ${how} what speaks a protocol of its own is answered by the error, or broken off`, async () => {
      const world = await new World().start();
      const speak = (headers: Record<string, string> = {}) =>
        fetch(world.url("/speak"), { method: "POST", headers });
      const asked = speak();
      const begun = await speak({ "x-first": "begun" });
      await expect.poll(() => world.signals.length).toBe(2);
      world.isSlow = isSlow;
      lose(world);
      world.look();
      const refused = await asked;
      expect(await refused.json()).toMatchObject({ error: { code: expect.any(String) } });
      expect(refused.status).toBe(world.failure ? 401 : 403);
      await expect(begun.text()).rejects.toThrow();
      await expect.poll(() => world.timers).not.toContain(1_000);
    });

    test(`AUTH-58 after ${how} a poll that waits is answered by the error, at once`, async () => {
      const world = await new World().start();
      const asked = fetch(world.url("/wait"));
      await expect.poll(() => world.signals.length).toBe(1);
      world.isSlow = isSlow;
      lose(world);
      world.look();
      const response = await asked;
      expect(response.status).toBe(world.failure ? 401 : 403);
      if (world.failure)
        expect(response.headers.get("www-authenticate")).toContain("invalid_token");
      else expect(await response.json()).toMatchObject({ error: DENIED });
      expect(world.signals[0]?.aborted).toBe(true);
    });

    test(`AUTH-58 after ${how} what a poll waited for is not its answer`, async () => {
      const world = await new World().start();
      const asked = fetch(world.url("/wait"));
      await expect.poll(() => world.signals.length).toBe(1);
      world.isSlow = isSlow;
      lose(world);
      world.waited.resolve("secret");
      const response = await asked;
      expect(response.status).toBe(world.failure ? 401 : 403);
      expect(await response.text()).not.toContain("secret");
    });
  }
}

test("AUTH-58 what a handler demanded of a record is demanded again", async () => {
  const world = await new World().start();
  const asked = fetch(world.url("/wait"));
  await expect.poll(() => world.signals.length).toBe(1);
  world.rights = holding("thing:a:read");
  world.waited.resolve("secret");
  const details = { missing_permissions: ["kind:big:read"] };
  expect(await (await asked).json()).toMatchObject({
    error: { code: "permission_denied", details },
  });
});

test("AUTH-58 other rights that suffice as well change nothing, nor does a store that cannot be read", async () => {
  const world = await new World().start();
  const { read } = await follow(world);
  world.rights = holding(...EVERYTHING, "more");
  world.say(tick(1));
  expect(await read()).toContain("data: 1");
  world.failure = new EngineError("unavailable", "the database is away");
  world.look();
  world.failure = undefined;
  world.say(tick(2));
  expect(await read()).toContain("data: 2");
  // What is to be sent while nobody knows is not sent.
  world.failure = new EngineError("unavailable", "the database is away");
  world.say(tick("secret"));
  expect(await read()).toMatch(/^event: error\ndata: \{"code":"unavailable"/);
});

test("AUTH-58 a change that takes a right of the caller's own away is answered as done", async () => {
  const world = await new World().start();
  const asked = fetch(world.url(""), { method: "POST" });
  await expect.poll(() => world.done).toEqual(["change"]);
  world.rights = holding();
  world.look();
  world.waited.resolve(null);
  expect(await (await asked).json()).toBe("changed");
});

test("AUTH-58 half a frame is not completed: the connection breaks", async () => {
  const world = await new World().start();
  const more = Promise.withResolvers<void>();
  async function* pieces() {
    yield '{"list":[1';
    await more.promise;
    yield ',"secret"]}';
  }
  const { read } = await follow(world);
  world.say({ event: "tick", data: {}, pieces: pieces() });
  expect(await read()).toContain('{"list":[1');
  world.rights = holding();
  more.resolve();
  await expect(read()).rejects.toThrow();
});

test("AUTH-58 a reader that reads nothing keeps neither the frames that wait nor its connection", async () => {
  const world = await new World().start();
  const { port } = new URL(world.url(""));
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => undefined);
  // It may close at any moment from here on.
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.pause();
  // What was taken by the network before the loss may be read to its end: the connection closes then.
  const head = "host: localhost\r\nconnection: close\r\n";
  socket.write(`GET /things/a/follow HTTP/1.1\r\n${head}\r\n`);
  const big = "x".repeat(1_000_000);
  for (let i = 0; i < 100; i++) world.say(tick(big));
  world.say(tick("secret"));
  await expect.poll(() => world.signals.length).toBe(1);
  await expect.poll(() => world.asked).toBeGreaterThan(0);
  world.rights = holding();
  world.look();
  await expect.poll(() => world.isEnded || world.signals[0]?.aborted).toBe(true);
  let read = "";
  socket.on("data", (chunk: Buffer) => {
    read += chunk.toString("latin1").replaceAll("x", "");
  });
  socket.resume();
  await closed;
  expect(read).not.toContain("secret");
});

test("AUTH-58 a line after the loss is not taken: it is answered by the error, and the request closes", async () => {
  for (const [, lose] of LOSSES.slice(1)) {
    const world = await new World().start();
    const { request, next } = await talk(world);
    request.write('{"n":1}\n');
    expect(await next()).toEqual({ n: 1 });
    lose(world);
    request.write('{"n":2}\n{"n":3}\n');
    expect(await next()).toMatchObject({ error: { code: "unauthenticated" } });
    expect(await next()).toBeUndefined();
    expect(world.done).toEqual([1]);
  }
});

test("AUTH-58 an idle request of lines closes after the loss, and one whose answer is not there yet", async () => {
  for (const first of [1, -1]) {
    const world = await new World().start();
    const { request, next } = await talk(world);
    request.write(`{"n":${first}}\n`);
    if (first === 1) expect(await next()).toEqual({ n: 1 });
    else await expect.poll(() => world.done).toEqual([-1]);
    world.failure = ENDED;
    world.look();
    expect(await next()).toMatchObject({ error: { code: "unauthenticated" } });
    expect(await next()).toBeUndefined();
    world.waited.resolve(null);
    await app?.close();
  }
});

test("AUTH-58 while nobody can lose anything, nobody asks and no timer runs for it", async () => {
  const world = await new World().start(true);
  const { read } = await follow(world);
  world.say(tick(1));
  expect(await read()).toContain("data: 1");
  expect([world.asked, world.timers]).toEqual([0, [15_000]]);
});

test("the timer ends with the last long answer", async () => {
  const world = await new World().start();
  const { read } = await follow(world);
  world.say("begun");
  await read();
  expect(world.timers).toContain(2_000);
  world.rights = holding();
  world.look();
  expect(await read()).toMatch(/^event: error/);
  world.look();
  expect(world.timers).not.toContain(2_000);
});

async function talk(world: World) {
  const headers = { "content-type": "application/x-ndjson" };
  const request: ClientRequest = open(world.url("/talk"), { method: "POST", headers });
  request.on("error", () => {});
  request.flushHeaders();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.setEncoding("utf8");
  const parts = response[Symbol.asyncIterator]();
  let text = "";
  const next = async () => {
    while (!text.includes("\n")) {
      const { value, done } = await parts.next().catch(() => ({ value: "", done: true }));
      if (done) return undefined;
      text += value;
    }
    const [line = "", ...rest] = text.split("\n");
    text = rest.join("\n");
    return JSON.parse(line);
  };
  return { request, next };
}
