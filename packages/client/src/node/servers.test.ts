import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type Server, Servers } from "./servers.ts";

const [FIRST, SECOND, THIRD] = ["http://first:1", "http://second:2", "http://third:3"] as const;

/** A server that answers at once, but for `/held`, and the connections that it has had. */
async function listen() {
  const connections: Socket[] = [];
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    if (request.url === "/held") held.push(response);
    else response.end("at once");
  });
  // Connections end by what the test does, not because the server is tired of them.
  server.keepAliveTimeout = 0;
  server.on("connection", (socket) => connections.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    connections,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Sends a request and returns once it has arrived; `answer` lets it have its answer. */
    async hold(to: Server) {
      const arrived = once(server, "request");
      const answered = ask(to, "/held");
      answered.catch(() => undefined);
      await arrived;
      const response = held.pop();
      return { answered, answer: () => void response?.end("in the end") };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function ask({ request, agent, host, port }: Server, path = "/"): Promise<string> {
  const sent = request({ host, port, path, agent }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const body = await text(answer);
  // The connection goes back to where it rests, or ends, in the same turn as this.
  if (!sent.destroyed) await once(sent, "close");
  return body;
}

async function closed(socket: Socket | undefined): Promise<void> {
  if (socket && !socket.closed) await once(socket, "close");
}

test("WRK-13 GW-21 one server is used for as long as it answers, then the next, and after the last the first", () => {
  const servers = new Servers([FIRST, SECOND, THIRD]);
  expect(servers.count).toBe(3);
  expect(servers.current).toBe(servers.current);
  const used = Array.from({ length: 4 }, () => {
    const { current } = servers;
    servers.failed(current);
    return current.host;
  });
  expect(used).toEqual(["first", "second", "third", "first"]);
});

test("GW-21 of many that fail together the first one counts, however late the others are", () => {
  const servers = new Servers([FIRST, SECOND]);
  const { current: first } = servers;
  servers.failed(first);
  servers.failed(first);
  expect(servers.current.host).toBe("second");
  servers.failed(servers.current);
  servers.failed(first);
  expect(servers.current.host).toBe("first");
});

test("where there is one address a failure changes nothing, and connections that rest are used again", async () => {
  await using server = await listen();
  const servers = new Servers([server.url]);
  const { current } = servers;
  await ask(current);
  servers.failed(current);
  expect(servers.current).toBe(current);
  await ask(servers.current);
  expect(server.connections).toHaveLength(1);
  servers.close();
});

test("WRK-13 a server is left on demand too: for the next address, or for a new connection to the only one", async () => {
  const several = new Servers([FIRST, SECOND]);
  several.next();
  expect(several.current.host).toBe("second");

  await using server = await listen();
  const servers = new Servers([server.url]);
  await ask(servers.current);
  servers.next();
  await ask(servers.current);
  expect(server.connections).toHaveLength(2);
  servers.close();
});

test("connections to a server that is left end: those that rest at once, those in use with their answer", async () => {
  await using server = await listen();
  const servers = new Servers([server.url]);
  const { answered, answer } = await server.hold(servers.current);
  await ask(servers.current);
  const [used, resting] = server.connections;
  servers.next();
  await closed(resting);
  expect(used?.closed).toBe(false);
  answer();
  expect(await answered).toBe("in the end");
  await closed(used);
});

test("close ends all connections, in use or at rest, to servers that were left too", async () => {
  await using server = await listen();
  const servers = new Servers([server.url]);
  const left = await server.hold(servers.current);
  servers.next();
  // One that was left before, with nothing under way any more, hides no other.
  servers.next();
  const used = await server.hold(servers.current);
  await ask(servers.current);
  expect(server.connections).toHaveLength(3);
  servers.close();
  await expect(left.answered).rejects.toThrow("socket hang up");
  await expect(used.answered).rejects.toThrow("socket hang up");
  for (const socket of server.connections) await closed(socket);
});

test("a connection that rests for longer than it may is ended; one in use is not", async () => {
  await using server = await listen();
  const servers = new Servers([server.url], { restMs: 20 });
  const { answered, answer } = await server.hold(servers.current);
  await ask(servers.current);
  const [used, resting] = server.connections;
  await closed(resting);
  expect(used?.closed).toBe(false);
  answer();
  expect(await answered).toBe("in the end");
  await closed(used);
});

test.each([
  ["http://engine:8000", { host: "engine", port: "8000", prefix: "" }],
  ["http://engine", { port: 80, isSecure: false }],
  ["https://engine", { port: 443, isSecure: true }],
  ["http://engine/below/this", { prefix: "/below/this" }],
  ["http://engine/below//", { prefix: "/below" }],
  ["http://[::1]:8000/", { host: "::1", prefix: "" }],
])("what %s says", (url, expected) => {
  expect(new Servers([url]).current).toMatchObject(expected);
});

test.each([
  ["http://engine", true],
  ["https://engine", false],
  ["http://localhost:8000", false],
  ["http://127.0.0.1:8000", false],
  ["http://[::1]:8000", false],
])("NET-6 what is sent to %s can be read on its way: %s", (url, isExposed) => {
  expect(new Servers([url]).current).toMatchObject({ isExposed });
});

test("none, or one that is no address, is told at once, at whatever place it is", () => {
  expect(() => new Servers([])).toThrow("the address of a server is needed");
  expect(() => new Servers([FIRST, "second"])).toThrow("Invalid URL");
});
