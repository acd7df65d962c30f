import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { inTurn } from "./in-turn.ts";

const opened: { close(): void }[] = [];

afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function serving(handle: RequestListener): Promise<{ arrived: () => number; port: number }> {
  const server = createServer(inTurn(handle));
  let arrived = 0;
  server.prependListener("request", () => void arrived++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  return { arrived: () => arrived, port: (server.address() as AddressInfo).port };
}

function connected(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  opened.push({ close: () => socket.destroy() });
  return socket;
}

const request = (path: string, body = "") =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** How often the loop has come round. */
function countTurns(): () => number {
  let turns = 0;
  let timer = setImmediate(function turn() {
    turns++;
    timer = setImmediate(turn);
  });
  opened.push({ close: () => clearImmediate(timer) });
  return () => turns;
}

test("a client that sends a thousand requests ahead gets one answered for each turn of the loop, in order", async () => {
  const turnOf = countTurns();
  const handled: { path: string; turn: number }[] = [];
  const { port } = await serving((request, response) => {
    handled.push({ path: request.url ?? "", turn: turnOf() });
    response.end(request.url);
  });
  const socket = connected(port);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  const paths = Array.from({ length: 1_000 }, (_, n) => `/${n}`);
  socket.write(paths.map((path) => request(path)).join(""));
  await expect.poll(() => handled.length).toBe(paths.length);
  expect(handled.map(({ path }) => path)).toEqual(paths);
  expect(new Set(handled.map(({ turn }) => turn)).size).toBe(paths.length);
  await expect.poll(() => text.split("HTTP/1.1 200").length - 1).toBe(paths.length);
});

test("others are answered while a client's requests wait for their turn", async () => {
  let ahead = 0;
  const { port } = await serving((request, response) => {
    if (request.url === "/ahead") ahead++;
    response.end();
  });
  const first = connected(port);
  const other = connected(port);
  await Promise.all([once(first, "connect"), once(other, "connect")]);
  first.write(request("/ahead").repeat(2_000));
  other.write(request("/other"));
  await once(other, "data");
  expect(ahead).toBeLessThan(1_000);
});

test("a connection is not read while requests of it wait, so that they cannot fill the memory", async () => {
  const held = Promise.withResolvers<void>();
  const { arrived, port } = await serving((_request, response) => {
    void held.promise.then(() => response.end());
  });
  const socket = connected(port);
  const total = 8_000;
  socket.write(request("/", "12345").repeat(total));
  await expect.poll(arrived).toBeGreaterThan(1);
  const turnOf = countTurns();
  await expect.poll(turnOf).toBeGreaterThan(200);
  expect(arrived()).toBeLessThan(total / 2);
  held.resolve();
  await expect.poll(arrived, { timeout: 20_000 }).toBe(total);
});

test("what a client sent ahead is forgotten when it leaves", async () => {
  let handled = 0;
  const held = Promise.withResolvers<void>();
  const { arrived, port } = await serving((_request, response) => {
    handled++;
    void held.promise.then(() => response.end());
  });
  const socket = connected(port);
  socket.write(request("/").repeat(10));
  await expect.poll(arrived).toBe(10);
  socket.destroy();
  const turnOf = countTurns();
  await expect.poll(turnOf).toBeGreaterThan(50);
  held.resolve();
  expect(handled).toBe(1);
});
