import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExecutionRecord } from "@engine/contract";
import { openPostgresStore } from "@engine/store";
import { startTestPostgres } from "@engine/store/test-postgres";
import { expect, onTestFinished, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { mcpCall } from "../harness/mcp.ts";

/** In every value and in every key that is given here; nothing else has it. */
const TAINT = "zq17taint";
const GIVEN = {
  dataset: `${TAINT}-data`,
  tier: { [`${TAINT}-key`]: `${TAINT}-deep` },
  spare: null,
};
const HEADER = { "x-engine-routing-input": JSON.stringify(GIVEN) };

/** What programs give to their calls, and what is wrong with some of it; the text is theirs. */
const SOURCE = `import { call, parallel, task, workflow } from "@engine/sdk";
const given = (n: number) => ({ dataset: ["zq17", "taint-"].join("") + n, tier: { level: n } });
const half = task({ name: "half" }, async (n: number) => n / 2);
export const child = workflow({ name: "child" }, async (n: number) => half(n));
const body = async (n: number) => {
  const first = await call(child, n, { routingInput: given(1) });
  const both = await parallel([1, 2].map((n) => () => call(child, n, { routingInput: given(n) })));
  const refused = await call(child, n, { routingInput: { list: [given(3).dataset] } as never })
    .catch((error) => [error.failure.type, error.failure.details, error.message]);
  const id = await call(child, n, { routingInput: given(4), wait: false });
  return { first, both, refused, id: id.length };
};
export const threaded = workflow({ name: "threaded" }, body);
export const apart = workflow({ name: "apart", runner: "process" }, body);
`;

async function fromPostgres(): Promise<string> {
  const postgres = await startTestPostgres();
  onTestFinished(() => postgres.stop());
  return postgres.createDatabase();
}

/** Every byte of the files of a database, or every row that has a routing input. */
async function stored(engine: Engine, url: string | undefined): Promise<string> {
  if (url === undefined) {
    const home = engine.home.file(".engine");
    const files = (await readdir(home)).filter((name) => name.includes("db"));
    expect(files.length).toBeGreaterThan(0);
    return (await Promise.all(files.map((name) => readFile(join(home, name), "latin1")))).join("");
  }
  const store = await openPostgresStore({ url, clock: Date.now });
  const page = { order: "created_asc", limit: 1_000, offset: 0 } as const;
  const rows = [await store.executions.list(page), await store.schedules.list(page)];
  await store.close();
  return JSON.stringify(rows);
}

test.each(["sqlite", "postgres"])(
  "RIN-3 RIN-1 on %s no routing input is in a byte that leaves the server, in a log, or plain in the database",
  async (kind) => {
    const url = kind === "postgres" ? await fromPostgres() : undefined;
    const env = {
      ENGINE_LOG_LEVEL: "debug",
      ENGINE_SECURITY__ENCRYPTION__KEY: Buffer.alloc(32, 7).toString("base64"),
      ...(url && { ENGINE_DATABASE_URL: url }),
    };
    await using engine = await startEngine({ store: "sqlite", env, workers: [] });
    const worker = engine.startWorker("one");
    const told: string[] = [];
    const ask = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const answer = await fetch(engine.url + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      told.push(`${path} ${answer.status} ${text}`);
      return { status: answer.status, text };
    };

    expect((await ask("/workflows", { source: SOURCE })).status).toBe(201);
    await ask("/services", { name: "shop", workflows: ["child", "threaded"], mcp_enabled: true });
    const ids: string[] = [];
    for (const name of ["threaded", "apart"]) {
      const { text } = await ask(`/workflows/default/${name}/run/sync`, 8, HEADER);
      const record = JSON.parse(text) as ExecutionRecord;
      ids.push(record.execution_id);
      expect(record).toMatchObject({
        state: "COMPLETED",
        output: {
          ...{ first: 4, both: [0.5, 1], id: 36 },
          refused: ["InvalidInputError", { reason: "bad_value" }, expect.any(String)],
        },
      });
    }
    await ask("/workflows/default/threaded/run/stream", 8, HEADER);
    await ask("/child", 8, HEADER);
    await ask("/services/shop/child", 8, HEADER);
    const { headers, body } = mcpCall({ name: "child", given: { input: 8 } });
    expect((await ask("/services/shop/mcp", body, { ...headers, ...HEADER })).text).toContain("4");
    const schedule = {
      ...{ name: "daily", workflow: "child", input: 8, routing_input: GIVEN },
      spec: { type: "cron", expression: "0 0 * * *", timezone: "UTC" },
    };
    expect((await ask("/schedules", schedule)).status).toBe(201);
    await ask("/schedules/daily/trigger", null);
    for (const bad of [`["${TAINT}"]`, `{"${TAINT}.a":1}`, `{"${TAINT}"`, `{"a":["${TAINT}"]}`]) {
      const refused = { "x-engine-routing-input": bad };
      expect((await ask("/workflows/default/child/run/async", 8, refused)).status).toBe(400);
      await ask("/services/shop/mcp", body, { ...headers, ...refused });
    }
    const wrong = { ...schedule, name: "wrong", routing_input: { a: [TAINT] } };
    expect((await ask("/schedules", wrong)).status).toBe(422);
    for (const id of ids) {
      const log = JSON.parse((await ask(`/executions/${id}/events?limit=1000`)).text).items;
      const at = log.findIndex(({ source_id }: { source_id: string }) => source_id === "call~1");
      await ask(`/executions/${id}/fork`, { from_seq: at + 1 });
      await ask(`/executions/${id}/fork`, null);
      for (const rest of ["", "?detailed=true", "/history", "?mode=stream&events=all"]) {
        await ask(`/executions/${id}${rest}`);
      }
      await ask(`/inspect/${id}`);
    }
    for (const path of [
      "/executions?limit=200",
      "/schedules",
      "/schedules/daily",
      "/admin/audit",
    ]) {
      await ask(path);
    }
    const shown = await engine.cli("execution", "show", ids[0] ?? "", "--detailed");
    told.push(shown.stdout, shown.stderr, engine.server.output, worker.output);
    expect(told.filter((text) => text.includes(TAINT)).map((text) => text.slice(0, 300))).toEqual(
      [],
    );
    expect(await stored(engine, url)).not.toContain(TAINT);
  },
);
