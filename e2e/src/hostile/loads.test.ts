/**
 * What somebody who means harm does to a server, while others want their workflows run. `HOSTILE=full`
 * does it with as many bodies and readers as once killed a server; without it there are fewer.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { ExecutionRecord } from "@engine/contract";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { grown } from "../harness/memory.ts";
import { until } from "../harness/until.ts";

vi.setConfig({ testTimeout: 240_000 });

const MIB = 1024 * 1024;
const isFull = process.env["HOSTILE"] === "full";
const BODIES = isFull ? 40 : 8;
const READERS = isFull ? 200 : 40;

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
  await engine.register("voluminous", "hello");
});
afterEach(() => engine[Symbol.asyncDispose]());

function opened(): Socket {
  const { hostname, port } = new URL(engine.http.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined);
  return socket;
}

function headOf(method: string, path: string, more: Record<string, string | number> = {}): string {
  const { host } = new URL(engine.http.url);
  const headers = Object.entries({ host, ...more }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${headers.join("")}\r\n`;
}

/** Honest runs beside it, each of which has to complete. */
async function beside(load: Promise<unknown>): Promise<number> {
  let isOver = false;
  void load.finally(() => {
    isOver = true;
  });
  let completed = 0;
  while (!isOver) {
    const run = "/workflows/default/hello_world/run/sync";
    const { status, body } = await engine.http.post<ExecutionRecord>(run, "you");
    expect([status, body.output]).toEqual([200, "Hello, you!"]);
    expect(await engine.http.isHealthy()).toBe(true);
    completed++;
  }
  await load;
  return completed;
}

test.each([
  ["a workflow that does not exist", "/workflows/default/nobody/run/async", [404]],
  ["a workflow with another schema", "/workflows/default/talker/run/async", [422, 503]],
  ["a workflow that takes anything", "/workflows/default/swallow/run/async", [202, 503]],
])(
  `${BODIES} bodies of 16 MB for %s at once stop nobody, and none is answered by 500`,
  async (_, path, allowed) => {
    const body = Buffer.from(`[${"[],".repeat((16 * MIB) / 3 - 2)}[]]`);
    const type = { "content-type": "application/json", "content-length": body.length };
    const send = async () => {
      const socket = opened();
      socket.write(headOf("POST", path, type));
      socket.write(body);
      const [chunk] = (await once(socket, "data")) as [Buffer];
      socket.destroy();
      return Number(chunk.toString("latin1", 9, 12));
    };
    let answers: number[] = [];
    const most = await grown(engine.server.pid, async () => {
      const load = Promise.all(Array.from({ length: BODIES }, send));
      expect(await beside(load)).toBeGreaterThan(0);
      answers = await load;
    });
    expect(answers.filter((status) => !allowed.includes(status))).toEqual([]);
    expect(answers).toContain(allowed[0]);
    expect(most).toBeLessThan(1024 * MIB);
  },
);

test(`EXE-93 ${READERS} readers of a long log that do not read stop nobody, and get all of it once they do`, async () => {
  const { body } = await engine.http.post<ExecutionRecord>(
    "/workflows/default/talker/run/sync",
    270,
  );
  expect(body.output).toBe(270);
  const path = `/executions/${body.execution_id}?mode=stream&events=all`;
  const readers: Socket[] = [];
  const most = await grown(engine.server.pid, async () => {
    for (let reader = 0; reader < READERS; reader++) {
      const socket = opened().pause();
      socket.write(headOf("GET", path, { "last-event-id": 0 }));
      readers.push(socket);
    }
    const passed = new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(await beside(passed)).toBeGreaterThan(0);
  });
  expect(most).toBeLessThan(512 * MIB);
  const { length: events } = await engine.http.log(body.execution_id);
  for (const reader of readers.splice(0, 3)) {
    const ids: number[] = [];
    let text = "";
    reader.setEncoding("latin1").on("data", (chunk: string) => {
      const lines = (text + chunk).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("id: ")) ids.push(Number(line.slice(4)));
    });
    reader.resume();
    await until("it has the last frame", () => ids.at(-1) === events);
    expect([...new Set(ids)]).toEqual(Array.from({ length: events }, (_, i) => i + 1));
  }
  for (const reader of readers) reader.destroy();
});

test("thousands of requests that a client sends ahead on one connection stop nobody", async () => {
  const socket = opened();
  const lists = 5_000;
  let answers = 0;
  socket.on("data", (chunk: Buffer) => {
    answers += chunk.toString("latin1").split("HTTP/1.1 200").length - 1;
  });
  socket.write(headOf("GET", "/executions?limit=100").repeat(lists));
  await once(socket, "data");
  const { status } = await engine.http.get("/health");
  expect(status).toBe(200);
  expect(answers).toBeLessThan(lists);
  socket.destroy();
});
