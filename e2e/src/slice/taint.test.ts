import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeliveryRecord, ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { startEngine } from "../harness/engine.ts";
import { MCP_HEADERS, mcpCall, mcpMessage } from "../harness/mcp.ts";
import { Random } from "../harness/random.ts";
import { until } from "../harness/until.ts";

/** In objects of ten: a thousand values. */
const SECRETS = 100;
const EACH = 10;
const SEED = 20261128;

const ALPHABETS = [
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  "0123456789abcdef",
  'ab"\\/<>&%+= \n\t{}[]:,',
  "äöüßéñ日本語🔑🙂",
];

type Value = string | number;

function randomValues(): Value[][] {
  const random = new Random(SEED);
  const below = (n: number) => random.between(0, n - 1);
  const value = (): Value => {
    const kind = below(ALPHABETS.length + 1);
    if (kind === ALPHABETS.length) return 10 ** 9 + below(10 ** 9);
    const letters = [...(ALPHABETS[kind] as string)];
    const length = 10 + below(30);
    const text = Array.from({ length }, () => letters[below(letters.length)]).join("");
    // White space at its ends may be lost anywhere.
    return `k${text}k`;
  };
  return Array.from({ length: SECRETS }, () => Array.from({ length: EACH }, value));
}

/** A program that lets its secrets out wherever it can. */
const SOURCE =
  `import { call, getConfig, parallel, pause, progress, task, workflow } from "@engine/sdk";
const names = ${JSON.stringify(Array.from({ length: SECRETS }, (_, i) => `S${i}`))};
const forms = {
  plain: (text) => text,
  json: (text) => JSON.stringify({ text }),
  base64: (text) => Buffer.from("x" + text + "y").toString("base64"),
  base64url: (text) => Buffer.from("xy" + text).toString("base64url"),
  hex: (text) => Buffer.from(text).toString("hex"),
  upper: (text) => Buffer.from(text).toString("hex").toUpperCase(),
  percent: (text) => encodeURIComponent(text),
};
const leaves = (secrets) => Object.values(secrets).flatMap((value) => Object.values(value));
const spill = task({ name: "spill", secrets: NAMES }, async (form, { secrets }) => {
  const values = leaves(secrets);
  for (const value of values.slice(0, 50)) progress({ form, said: forms[form](String(value)) });
  console.log("task says", forms[form](String(values[0])));
  return values.map((value) => (form === "plain" ? value : forms[form](String(value))));
});
const keys = task({ name: "keys", secrets: NAMES }, async (_, { secrets }) =>
  Object.fromEntries(leaves(secrets).map((value) => [String(value), 1])));
const fails = task({ name: "fails", secrets: NAMES, retry: { maxAttempts: 2, delay: 0 } }, async (_, { secrets }) => {
  throw new Error("with " + leaves(secrets).slice(0, 200).join(" | "), { cause: new Error(String(leaves(secrets)[201])) });
});
const big = task({ name: "big", secrets: NAMES }, async (_, { secrets }) => {
  const values = leaves(secrets);
  return Array.from({ length: 10 }, () => values);
});
export const child = workflow({ name: "child" }, async (input) => input);
export const failing = workflow({ name: "failing" }, async () => {
  await fails();
});
export const spills = workflow({ name: "spills" }, async () => {
  const all = [];
  for (const form of Object.keys(forms)) all.push(await spill(form));
  all.push(await keys());
  all.push(await fails().catch((error) => error.message));
  await big();
  all.push(await call("default/child", all[0]));
  const answer = await pause("answer", { output: all[1] });
  return [all, answer];
});
`.replaceAll("NAMES", JSON.stringify(Array.from({ length: SECRETS }, (_, i) => `S${i}`)));

/** A workflow that tells secrets before it runs: in what is read of its source. */
const describedBy = (secrets: readonly string[]) => {
  const [about, field, preset, one] = secrets.map((text) => JSON.stringify(text));
  return `import { workflow } from "@engine/sdk";
import { z } from "zod";
const input = z.object({
  said: z.string().default(${preset}).describe(${field}),
  way: z.enum(["any", ${one}]).optional(),
});
export const described = workflow({ name: "described", description: ${about}, input }, async (i) => i);
`;
};

/** The target of hooks: it keeps what it is handed over, where nothing is masked on the way. */
const toldTo = (folder: string) => `import { writeFileSync } from "node:fs";
import { task, workflow } from "@engine/sdk";
const keep = task({ name: "keep" }, async (given) => {
  writeFileSync(${JSON.stringify(folder)} + "/" + given.delivery_id + ".json", JSON.stringify(given));
});
export const told = workflow({ name: "told" }, async (given) => {
  await keep(given);
});
`;

/** Every byte that left the server, with where. */
class Left {
  readonly texts: { readonly from: string; readonly text: string }[] = [];
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async ask(path: string, init: RequestInit = {}): Promise<string> {
    const answer = await fetch(`${this.#url}${path}`, {
      ...init,
      headers: { "content-type": "application/json", ...init.headers },
    });
    const text = await answer.text();
    this.texts.push({
      from: `${init.method ?? "GET"} ${path.slice(0, 60)} ${answer.status}`,
      text,
    });
    return text;
  }

  post(path: string, body: unknown): Promise<string> {
    return this.ask(path, { method: "POST", body: JSON.stringify(body) });
  }
}

/** All that a value may look like; none is so short that it is found by chance. */
function looksOf(value: Value): string[] {
  const text = String(value);
  const bytes = Buffer.from(text);
  const inner = (shift: number) => {
    const padded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    // Without the characters that share bits with what stands before and after.
    return padded
      .slice(shift === 0 ? 0 : shift + 1)
      .replace(/=*$/, "")
      .slice(0, -1);
  };
  const quoted = JSON.stringify(text).slice(1, -1);
  const base64 = [0, 1, 2].map(inner);
  return [
    ...new Set([
      text,
      quoted,
      JSON.stringify(quoted).slice(1, -1),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
      encodeURIComponent(text),
      ...base64,
      ...base64.map((one) => one.replaceAll("+", "-").replaceAll("/", "_")),
    ]),
  ];
}

async function keepSecrets(left: Left, values: readonly Value[][]): Promise<void> {
  for (const [i, list] of values.entries()) {
    const value = Object.fromEntries(list.map((one, k) => [`f${k}`, one]));
    const answer = await left.ask(`/admin/secrets/S${i}`, {
      method: "PUT",
      body: JSON.stringify({ value }),
    });
    expect(JSON.parse(answer)).toMatchObject({ name: `S${i}`, masked_values: EACH });
  }
}

async function everything(left: Left, id: string): Promise<void> {
  const of = `/executions/${id}`;
  for (const path of ["", "?detailed=true", "/inspect", "/events?limit=1000", "/history"]) {
    await left.ask(`${of}${path}`);
  }
  const { head = 0 } = JSON.parse(await left.ask(`${of}/events?limit=1`)) as { head?: number };
  for (let seq = 1; seq <= Math.max(head, 60); seq++) await left.ask(`${of}/events/${seq}/value`);
  for (const path of [
    "/executions?limit=100",
    `/workflows/default/spills/status/${id}?detailed=true`,
  ]) {
    await left.ask(path);
  }
  await left.ask(`${of}?mode=stream`, { headers: { "last-event-id": "0" } });
}

/** All that a service tells: about itself, of runs in each of its ways, and the same as tools of MCP. */
async function askService(left: Left, values: readonly Value[][]): Promise<void> {
  const texts = values.map(([text]) => String(text));
  await left.post("/workflows", { source: describedBy(texts) });
  const workflows = ["spills", "child", "failing", "described"];
  const about = { description: `of ${texts[0]}`, mcp_enabled: true };
  await left.post("/services", { name: "leaky", workflows, ...about });
  for (const path of ["", "/leaky", "/leaky/openapi.json", "/leaky/mcp/tools"]) {
    await left.ask(`/services${path}`);
  }
  const of = "/services/leaky";
  const idIn = (text: string) => /"execution_id":"([\w-]+)"/.exec(text)?.[1] ?? "";
  const ran = await left.post(`${of}/spills/stream`, null);
  expect(ran).toContain(".execution.paused");
  expect(ran).toContain("task.progress");
  const id = idIn(ran);
  await left.ask(`${of}/spills/status/${id}`);
  await left.post(`${of}/spills/resume/${id}`, { answer: texts[0] });
  await left.ask(`${of}/spills/stream/${id}`, { headers: { "last-event-id": "0" } });
  await left.post(`${of}/failing`, null);
  const failed = idIn(await left.post(`${of}/failing/async`, null));
  await left.ask(`${of}/failing/stream/${failed}`);
  await left.ask(`${of}/failing/status/${failed}`);
  await left.post(`${of}/child`, values.slice(0, 20));
  await left.post(`${of}/described`, { said: 1, way: texts[1] });

  const send = ({ headers, body }: ReturnType<typeof mcpMessage>) =>
    left.ask(`${of}/mcp`, { method: "POST", headers, body: JSON.stringify(body) });
  const listing = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const initialize = {
    ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
    params: {
      ...{ protocolVersion: "2025-11-25", capabilities: {} },
      clientInfo: { name: "by hand", version: "1" },
    },
  };
  expect(await send({ headers: MCP_HEADERS, body: initialize })).toContain("instructions");
  expect(await send({ headers: MCP_HEADERS, body: listing })).toContain("resume_described");
  expect(await send(mcpMessage({ method: "server/discover" }))).toContain("instructions");
  expect(await send(mcpMessage({ method: "tools/list" }))).toContain("resume_described");
  const call = (name: string, given?: unknown) =>
    send(mcpCall({ name, given, meta: { progressToken: "p" } }));
  const called = await call("spills");
  expect(called).toContain("notifications/progress");
  expect(called).toContain("resume_spills");
  const execution_id = idIn(called);
  await call("status_spills", { execution_id });
  const input = JSON.stringify({ answer: texts[0] });
  expect(await call("resume_spills", { execution_id, input })).toContain("COMPLETED");
  await call("status_spills", { execution_id });
  expect(await call("failing")).toContain("FAILED");
  const { structuredContent: started } = JSON.parse(await call("failing_async")).result;
  expect(started.execution_id).toMatch(/./);
  await call("child", { input: JSON.stringify(values.slice(0, 20)) });
  expect(await call("described", { said: 1, way: texts[1] })).toContain("invalid_input");
  await call("described", { said: texts[1] });
  await call(String(texts[0]));
}

/** Whatever happens is told to `told`. */
async function hookAll(left: Left, folder: string): Promise<void> {
  expect(await left.post("/workflows", { source: toldTo(folder) })).toContain('"told"');
  const ways = ["spills", "child", "failing"];
  const on = [
    ...ways.map((name) => `execution:default:${name}:*`),
    ...ways.map((name) => `task:default:${name}:*`),
  ];
  const hook = { name: "all", selectors: on, workflow: "default/told", principal: "bot" };
  expect(await left.post("/hooks", hook)).toContain('"enabled":true');
}

/** What became of them, once nothing is under way. */
async function askDeliveries(left: Left, folder: string): Promise<string[]> {
  const list = async (of: string) => {
    const text = await left.ask(`/hooks/all/deliveries?limit=200${of}`);
    return (JSON.parse(text) as { items: DeliveryRecord[] }).items;
  };
  await until("all deliveries are made", async () => (await list("&status=pending")).length === 0);
  const items = await list("");
  for (const { id } of items) await left.ask(`/hooks/all/deliveries/${id}`);
  await until("all targets have run", async () => {
    const text = await left.ask("/executions?workflow=told&limit=200");
    const { items: runs } = JSON.parse(text) as { items: ExecutionRecord[] };
    return runs.length >= items.length && runs.every(({ state }) => state === "COMPLETED");
  });
  const files = await readdir(folder);
  expect(files.length).toBeGreaterThanOrEqual(items.length);
  return Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
}

test.each(["sqlite", "postgres"] as const)(
  "I21 RED-1 RED-3 RED-4 on %s none of a thousand secrets is in a byte that leaves the server, in what a hook hands over, or in a line of its log",
  async (store) => {
    const env = {
      ENGINE_EXECUTIONS__INLINE_VALUE_BYTES: "65536",
      ENGINE_SECURITY__ENCRYPTION__KEY: Buffer.alloc(32, 7).toString("base64"),
    };
    await using engine = await startEngine({ store, env });
    const left = new Left(engine.url);
    const values = randomValues();
    await keepSecrets(left, values);
    await left.post("/workflows", { source: SOURCE });
    const folder = await mkdtemp(join(tmpdir(), "told-"));
    await hookAll(left, folder);
    const first = String(values[0]?.[0]);

    const ran = await left.post("/workflows/default/spills/run/stream", null);
    const [, id = ""] = /"execution_id":"([\w-]+)"/.exec(ran) ?? [];
    expect(ran).toContain(".execution.paused");
    expect(ran).toContain("task.progress");
    const paused = JSON.parse(await left.ask(`/executions/${id}`)) as ExecutionRecord;
    expect(paused.state).toBe("PAUSED");
    await left.post(`/workflows/default/spills/resume/${id}/sync`, { answer: first });
    await everything(left, id);

    // What others say of them: inputs, labels, descriptions, sources, configs, errors, audit rows.
    const input = values.slice(0, 20);
    await left.post("/workflows/default/child/run/sync", input);
    await left.post(`/executions/${id}/fork`, { from_seq: 10 });
    await left.ask("/admin/configs/c1", {
      method: "PUT",
      body: JSON.stringify({ value: input, description: `of ${first}` }),
    });
    await left.ask("/admin/configs/c1");
    await left.ask("/admin/secrets/S1", {
      method: "PUT",
      body: JSON.stringify({ value: values[1], description: `like ${first}` }),
    });
    await left.ask("/admin/secrets");
    await left.ask("/admin/audit?limit=500");
    await left.ask(`/executions/${encodeURIComponent(first)}`);
    await left.ask(`/${encodeURIComponent(first)}/nothing`);
    await left.post("/workflows", {
      source: `${SOURCE}\n// ${first}\nexport const broken = workflow({ name: ${JSON.stringify(first)} });`,
    });
    await left.post(`/workflows/default/child/run/async?label=${encodeURIComponent(first)}`, 1);
    await left.ask("/executions?limit=100");
    await askService(left, values);
    const handed = await askDeliveries(left, folder);
    // A value that is masked, not one that is missing.
    expect(handed.join("")).toContain("***REDACTED***");
    expect(handed.join("")).not.toContain("redaction_failed");
    // One that is deleted stays masked, since logs still hold it.
    await left.ask("/admin/secrets/S0", { method: "DELETE" });
    await everything(left, id);

    const all = [
      ...left.texts,
      ...handed.map((text) => ({ from: "what a hook handed over", text })),
      { from: "the log", text: engine.server.output },
    ];
    const found: string[] = [];
    const together = all.map(({ text }) => text).join("\n");
    for (const value of values.flat()) {
      for (const look of looksOf(value)) {
        if (!together.includes(look)) continue;
        const where = all.filter(({ text }) => text.includes(look)).map(({ from }) => from);
        found.push(`${JSON.stringify(value)} as ${look} in ${where.slice(0, 3).join(", ")}`);
      }
    }
    expect(found.slice(0, 10)).toEqual([]);
    expect(together).toContain("***REDACTED***");
  },
);
