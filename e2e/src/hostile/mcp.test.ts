/** What somebody who means harm sends to the MCP endpoint of a service, while others call its tools. */
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { MCP_HEADERS, mcpCall, mcpMessage, mcpSubscription } from "../harness/mcp.ts";
import { grown } from "../harness/memory.ts";
import { until } from "../harness/until.ts";

vi.setConfig({ testTimeout: 240_000 });

const MIB = 1024 * 1024;
const PATH = "/services/tools/mcp";
const isFull = process.env["HOSTILE"] === "full";
const UPLOADS = isFull ? 100 : 24;

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
  await engine.register("hello", "voluminous");
  const workflows = ["hello_world", "swallow"];
  await engine.http.post("/services", { name: "tools", workflows, mcp_enabled: true });
});
afterAll(() => engine[Symbol.asyncDispose]());
afterEach(async () => {
  expect(await engine.http.isHealthy()).toBe(true);
  const call = mcpCall({ name: "hello_world", given: { input: "you" } });
  expect(await (await post(call)).text()).toContain("Hello, you!");
  expect(engine.server.output).not.toContain("    at ");
});

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

const textOf = (body: unknown) => (typeof body === "string" ? body : JSON.stringify(body));

function post({ headers = MCP_HEADERS, body }: Sent): Promise<Response> {
  const bytes = Buffer.isBuffer(body) ? body : textOf(body);
  return fetch(engine.http.url + PATH, { method: "POST", headers, body: bytes });
}

/** Neither a defect nor anything of the inside. */
function expectSound(status: number, text: string): void {
  expect(status, text.slice(0, 500)).toBeLessThan(500);
  expect(text).not.toMatch(/\n\s+at |node:internal|\.ts:\d|"code":"internal"|-32603/);
  expect(text.length).toBeLessThan(64 * 1024);
}

const rpc = (more: object) => ({ body: { jsonrpc: "2.0", id: 1, method: "tools/list", ...more } });
const asText = (message: Sent, from: string, to: string): Sent => ({
  headers: message.headers ?? {},
  body: textOf(message.body).replace(from, () => to),
});
const swallow = (given: unknown) => mcpCall({ name: "swallow", given });
const DEEP = "[".repeat(100_000);

const MESSAGES: readonly (readonly [what: string, sent: Sent, expected: RegExp])[] = [
  ["no message at all", { body: "" }, /"code":-32700/],
  ["half a message", { body: '{"jsonrpc":"2.0","id":1,' }, /"code":-32700/],
  ["a byte that is no UTF-8", { body: Buffer.from([0x22, 0xff, 0x22]) }, /error/],
  ["an empty batch", { body: [] }, /"code":-32600/],
  ["a batch of two", { body: [rpc({}).body, rpc({ id: 2 }).body] }, /tools|error/],
  ["a batch of thousands", { body: Array.from({ length: 5_000 }, () => 1) }, /error/],
  ["an id that is an object", rpc({ id: {} }), /error/],
  ["an id that is a list", rpc({ id: [1] }), /error/],
  ["an id that is no whole number", rpc({ id: 1.5 }), /error/],
  ["an id that is null", rpc({ id: null }), /error/],
  ["a method that is a number", rpc({ method: 7 }), /error/],
  ["a method nobody knows", rpc({ method: "constructor" }), /"code":-32601/],
  ["parameters that are a list", rpc({ params: [1] }), /error/],
  ["parameters that are a text", rpc({ params: "x" }), /error/],
  ["a huge name of a tool", mcpCall({ name: "x".repeat(500_000) }), /error|too/],
  ["the name of what objects have", mcpCall({ name: "__proto__" }), /"code":-32602/],
  ["arguments that are a list", mcpCall({ name: "swallow", given: [1] }), /error/],
  [
    "arguments with a key that changes objects",
    asText(swallow({ input: "x" }), '{"input":"x"}', '{"input":"x","__proto__":{"a":1}}'),
    /__proto__|"text":"\\?"?string/,
  ],
  [
    "a value with a key that changes objects",
    swallow({ input: '{"__proto__":{"isAdmin":true}}' }),
    /__proto__/,
  ],
  ["a nested message", { body: DEEP }, /128 levels/],
  [
    "nested arguments",
    asText(swallow({ input: 1 }), '{"input":1}', `{"input":${DEEP}${"]".repeat(100_000)}}`),
    /128 levels/,
  ],
  ["a nested text", swallow({ input: DEEP + "]".repeat(100_000) }), /levels/],
  [
    "a key of idempotency that is an object",
    mcpCall({ name: "swallow_async", meta: { "engine/idempotency_key": {} } }),
    /invalid_input/,
  ],
  [
    "a key of idempotency that would be two headers",
    mcpCall({ name: "swallow_async", meta: { "engine/idempotency_key": "a\r\nx-engine-b: c" } }),
    /invalid_input/,
  ],
  [
    "a key of idempotency that no header holds",
    mcpCall({ name: "swallow_async", meta: { "engine/idempotency_key": "ключ" } }),
    /invalid_input/,
  ],
  [
    "an endless key of idempotency",
    mcpCall({ name: "swallow_async", meta: { "engine/idempotency_key": "x".repeat(100_000) } }),
    /invalid_input/,
  ],
  ...["..", ".", "../../../admin/secrets", "%2e%2e", "a?mode=stream", "\u0000"].flatMap((id) =>
    ["status_swallow", "resume_swallow", "resume_swallow_async"].map(
      (name) =>
        [
          `${name} of ${JSON.stringify(id)}`,
          mcpCall({ name, given: { execution_id: id } }),
          /"code":"(not_found|invalid_input|bad_request)"/,
        ] as const,
    ),
  ),
  [
    "a token of progress that is an object",
    mcpCall({ name: "swallow", meta: { progressToken: {} } }),
    /error|COMPLETED/,
  ],
  [
    "a revision nobody speaks",
    { headers: { ...MCP_HEADERS, "mcp-protocol-version": "1999-01-01" }, body: rpc({}).body },
    /error/,
  ],
  [
    "a session that there is not",
    { headers: { ...MCP_HEADERS, "mcp-session-id": "x" }, body: rpc({}).body },
    /tools|error/,
  ],
  [
    "headers that say another method",
    { ...mcpMessage({ method: "tools/list" }), body: swallow({ input: 1 }).body },
    /error/,
  ],
  ...["text/plain", "multipart/form-data; boundary=x", "application/json-seq"].map(
    (type) =>
      [
        `a body of type ${type}`,
        { ...rpc({}), headers: { ...MCP_HEADERS, "content-type": type } },
        /unsupported_media_type/,
      ] as const,
  ),
  [
    "a body that is packed",
    { ...rpc({}), headers: { ...MCP_HEADERS, "content-encoding": "gzip" } },
    /unsupported_media_type/,
  ],
  [
    "a client that takes no answer",
    { ...rpc({}), headers: { ...MCP_HEADERS, accept: "image/png" } },
    /-32000/,
  ],
];

test.each(MESSAGES)(
  "NET-1 MCP-9 %s is refused in words, and is no defect",
  async (_, sent, expected) => {
    const answer = await post(sent);
    const text = await answer.text();
    expectSound(answer.status, text);
    expect(text).toMatch(expected);
  },
);

function opened(): Socket {
  const { hostname, port } = new URL(engine.http.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined);
  return socket;
}

function headOf(more: Record<string, string | number>): string {
  const { host } = new URL(engine.http.url);
  const headers = Object.entries({ host, ...MCP_HEADERS, ...more });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${PATH} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

function asRequest({ headers = {}, body }: Sent): string {
  const text = textOf(body);
  return headOf({ ...headers, "content-length": Buffer.byteLength(text) }) + text;
}

const CHUNK = Buffer.from(`${MIB.toString(16)}\r\n${"x".repeat(MIB)}\r\n`);

/** A server that reads no more lets nothing drain. */
async function drained(socket: Socket): Promise<void> {
  const isDrained = once(socket, "drain").catch(() => undefined);
  await Promise.race([isDrained, sleep(2_000)]);
}

/** Files and sockets that the server has open; 0 where the system does not tell. */
async function descriptors(): Promise<number> {
  return (await readdir(`/proc/${engine.server.pid}/fd`).catch(() => [])).length;
}

test("NET-1 a body that breaks off leaves nothing behind", async () => {
  const before = await descriptors();
  for (const head of [
    headOf({ "content-length": 1_000 }),
    headOf({ "transfer-encoding": "chunked" }),
  ]) {
    for (let count = 0; count < 20; count++) {
      const socket = opened();
      socket.write(`${head}64\r\n{"jsonrpc":"2.0"`);
      await sleep(5);
      socket.destroy();
    }
  }
  await until("the connections are closed", async () => (await descriptors()) <= before + 2);
});

test(`NET-1 ${UPLOADS} bodies that do not say how long they are have the memory of a few`, async () => {
  const send = async () => {
    const socket = opened();
    let answered = "";
    socket.setEncoding("latin1").on("data", (text: string) => {
      answered += text;
    });
    socket.write(`${headOf({ "transfer-encoding": "chunked" })}1\r\n"\r\n`);
    // Without an end: all of it is kept for as long as it is waited for.
    for (let sent = 0; sent < 30 && answered === "" && !socket.destroyed; sent++) {
      if (!socket.write(CHUNK) && answered === "") await drained(socket);
    }
    return { socket, status: () => answered.slice(9, 12) };
  };
  let statuses: string[] = [];
  const most = await grown(engine.server.pid, async () => {
    const sent = await Promise.all(Array.from({ length: UPLOADS }, send));
    await sleep(1_000);
    expect(await engine.http.isHealthy()).toBe(true);
    statuses = sent.map(({ status }) => status());
    for (const { socket } of sent) socket.destroy();
  });
  if (isFull) process.stderr.write(`grown by ${most / MIB} MiB: ${statuses.join()}\n`);
  expect(most).toBeLessThan(512 * MIB);
  expect(statuses).toContain("503");
});

test("NET-1 a body that never ends is refused once it is longer than any message", async () => {
  const socket = opened();
  const answer = once(socket, "data") as Promise<[Buffer]>;
  let isAnswered = false;
  const answered = () => {
    isAnswered = true;
  };
  answer.then(answered, answered);
  socket.write(headOf({ "transfer-encoding": "chunked" }));
  for (let sent = 0; sent < 64 && !isAnswered; sent++) {
    if (!socket.write(CHUNK)) await Promise.race([drained(socket), answer]);
  }
  expect((await answer)[0].toString("latin1", 9, 12)).toBe("413");
  socket.destroy();
});

test("NET-1 messages of millions of values stop nobody", async () => {
  const [before, after] = textOf(swallow({ input: 1 }).body).split(":1}") as [string, string];
  const values = `[${"[],".repeat((15 * MIB) / 3)}[]]`;
  const body = `${before}:${values}}${after}`;
  const headers = swallow(1).headers;
  let answers: string[] = [];
  let longest = 0;
  const most = await grown(engine.server.pid, async () => {
    const sending = Promise.all(
      Array.from({ length: 6 }, async () => {
        const answer = await post({ headers, body });
        return `${answer.status} ${(await answer.text()).slice(0, 200)}`;
      }),
    );
    let isOver = false;
    void sending.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const began = performance.now();
      await engine.http.isHealthy();
      longest = Math.max(longest, performance.now() - began);
      await sleep(20);
    }
    answers = await sending;
  });
  expect(answers.filter((answer) => !/^(422|503) /.test(answer))).toEqual([]);
  expect(most).toBeLessThan(512 * MIB);
  expect(longest).toBeLessThan(5_000);
});

test("MCP-17 200 subscriptions that are dropped leave nothing behind", async () => {
  const before = await descriptors();
  const request = asRequest(mcpSubscription());
  const sockets = Array.from({ length: 200 }, () => {
    const socket = opened();
    socket.write(request);
    return socket;
  });
  const firsts = await Promise.all(sockets.map((socket) => once(socket, "data")));
  for (const [first] of firsts) expect((first as Buffer).toString("latin1")).toContain(" 200 OK");
  expect(await engine.http.isHealthy()).toBe(true);
  for (const socket of sockets) socket.destroy();
  await until("the connections are closed", async () => (await descriptors()) <= before + 2);
});

test("MCP-17 two messages that are sent at once on a connection are answered in their order", async () => {
  const socket = opened();
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const numbered = (id: number) => {
    const { headers, body } = mcpMessage({ method: "tools/list" });
    return asRequest({ headers, body: { ...(body as object), id } });
  };
  socket.write(numbered(11) + numbered(12));
  await until(
    "both are answered",
    () => text.split("HTTP/1.1 200").length === 3 && /"id":12/.test(text),
  );
  expect(text.indexOf('"id":11')).toBeLessThan(text.indexOf('"id":12'));
  socket.destroy();
});

test("MCP-18 a subscriber that does not read is told once it does", async () => {
  const socket = opened().pause();
  socket.write(asRequest(mcpSubscription()));
  await sleep(500);
  for (let round = 0; round < 10; round++) {
    const change = round % 2 === 0 ? "add_exclusions" : "remove_exclusions";
    await engine.http.put("/services/tools", { [change]: ["swallow"] });
    await sleep(20);
  }
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.resume();
  await until("it is told", () => text.includes("notifications/tools/list_changed"));
  socket.destroy();
});
