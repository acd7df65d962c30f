import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Assignment, Config, type Json, SESSION_HEADER } from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { expect, test } from "vitest";
import { startServer } from "../server.ts";
import { ScriptedWorker } from "../testing/scripted-worker.ts";
import { HELLO, hello, silent } from "../testing/start-engine.ts";

/** A server with file storage whose one worker owns one execution. */
class Owner implements AsyncDisposable {
  readonly home: string;
  readonly assigned: Assignment;
  readonly #url: string;
  readonly #session: string;
  readonly #end: () => Promise<void>;

  private constructor(parts: {
    home: string;
    assigned: Assignment;
    url: string;
    session: string;
    end: () => Promise<void>;
  }) {
    this.home = parts.home;
    this.assigned = parts.assigned;
    this.#url = parts.url;
    this.#session = parts.session;
    this.#end = parts.end;
  }

  static async start(): Promise<Owner> {
    const home = mkdtempSync(join(tmpdir(), "engine-server-"));
    const clock = Date.now;
    const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
    const config = Config.parse({ home, server: { port: 0 } });
    const server = await startServer({ config, store, log: silent, version: "0" });
    await server.engine.catalog.register({ source: HELLO }, { by: null });
    const worker = new ScriptedWorker("w", server.workers, clock);
    await worker.register();
    await worker.connect();
    await server.engine.executions.start(hello());
    const assigned = await worker.next("assign");
    const { session } = worker.ref;
    const end = async () => {
      await server.close();
      await store.close();
      rmSync(home, { recursive: true });
    };
    return new Owner({ home, assigned, url: server.url, session, end });
  }

  get generation(): number {
    return this.assigned.generation;
  }

  /** @param path Below the address of the execution. */
  fetch(method: string, path: string, body?: Json): Promise<Response> {
    const url = `${this.#url}/workers/w/executions/${this.assigned.execution_id}/${path}`;
    const headers = { [SESSION_HEADER]: this.#session, "content-type": "application/json" };
    return fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end();
  }
}

// As no JSON printer would write it: the hash is that of the text, not of the value.
const TEXT = '{"$rich":[ "\\u003Cb>" ]}';
const SHA256 = createHash("sha256").update(TEXT).digest("hex");

test("EXE-49 WRK-6 a value is put under its hash and read back, byte for byte", async () => {
  await using owner = await Owner.start();
  const { assigned, generation } = owner;
  const path = `values/${SHA256}?generation=${generation}`;
  const put = await owner.fetch("PUT", path, { text: TEXT });
  expect(put.status).toBe(200);
  expect(await put.json()).toEqual({
    storage_type: "file",
    reference_id: `${assigned.execution_id}/${SHA256}`,
    metadata: { bytes: TEXT.length },
  });
  const file = join(owner.home, "values", assigned.execution_id, SHA256);
  expect(readFileSync(file, "utf8")).toBe(TEXT);
  const got = await owner.fetch("GET", path);
  expect(got.headers.get("content-type")).toMatch(/^application\/json/);
  expect(await got.text()).toBe(TEXT);
  const of = await owner.fetch("GET", `${path}&of=${assigned.execution_id}`);
  expect(await of.text()).toBe(TEXT);
});

test("WRK-6 a wrong hash is 422, a value that nobody saved or may see 404, an old generation 409", async () => {
  await using owner = await Owner.start();
  const { generation } = owner;
  const wrong = await owner.fetch("PUT", `values/${"0".repeat(64)}?generation=${generation}`, {
    text: TEXT,
  });
  expect(wrong.status).toBe(422);
  expect(await wrong.json()).toMatchObject({ error: { code: "invalid_input" } });
  const path = `values/${SHA256}?generation=${generation}`;
  for (const missing of [path, `${path}&of=other`, `${path}&of=..%2F..`, `${path}&of=`]) {
    const got = await owner.fetch("GET", missing);
    expect(got.status).toBe(404);
    const details = { resource: "value" };
    expect(await got.json()).toMatchObject({ error: { code: "not_found", details } });
  }
  const stale = await owner.fetch("GET", `values/${SHA256}?generation=${generation + 1}`);
  expect(stale.status).toBe(409);
});

test("EXE-49a WRK-6 the task cache over HTTP: a miss, a kept output, null as a hit", async () => {
  await using owner = await Owner.start();
  const { generation } = owner;
  const key = { generation, task: "resize", version: "1", digest: SHA256 };
  const lookUp = async () => (await owner.fetch("POST", "cache", key)).json();
  expect(await lookUp()).toEqual({ hit: false });
  for (const value of [{ $rich: [[1], 2] }, null]) {
    const kept = await owner.fetch("PUT", "cache", { ...key, value, ttl_ms: 60_000 });
    expect(kept.status).toBe(204);
    expect(await lookUp()).toEqual({ hit: true, value });
  }
  const wrong = { ...key, digest: "short", value: 1, ttl_ms: 0 };
  const refused = await owner.fetch("PUT", "cache", wrong);
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({
    error: { details: { issues: [{ path: "body.digest" }, { path: "body.ttl_ms" }] } },
  });
});
