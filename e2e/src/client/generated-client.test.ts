/* What a stranger does with the document: generates types from it, writes a program, runs it. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");

const PROGRAM = `
import createClient from "openapi-fetch";
import type { paths } from "./engine.ts";

const client = createClient<paths>({ baseUrl: process.env["ENGINE_URL"] ?? "" });

const counting = { ns: "default", wf: "counting" };
const ran = await client.POST("/workflows/{ns}/{wf}/run/sync", {
  params: { path: counting, query: { detailed: "true", timeout: 30 } },
  body: 2,
});
const finished = ran.data;
if (finished?.state !== "COMPLETED") throw new Error(JSON.stringify(ran.error));

// What has a default may be left out.
const made = await client.POST("/schedules", {
  body: {
    name: "hourly",
    workflow: "counting",
    input: 1,
    spec: { type: "cron", expression: "0 * * * *" },
  },
});
if (made.data === undefined) throw new Error(made.error.error.message);

const started = await client.POST("/workflows/{ns}/{wf}/run/async", {
  params: { path: { ns: "default", wf: "slow" }, header: { "idempotency-key": "k1" } },
  body: { steps: 100, ms: 100 },
});
const id: string = started.data?.execution_id ?? "";

const listed = await client.GET("/executions", {
  params: { query: { state: ["COMPLETED", "created"], workflow: "counting", limit: 5 } },
});
const shown = await client.GET("/executions/{id}", { params: { path: { id } } });
const event = await client.GET("/executions/{id}/events/{seq}/value", {
  params: { path: { id: finished.execution_id, seq: 1 } },
});
const cancelled = await client.POST("/workflows/{ns}/{wf}/cancel/{id}", {
  params: { path: { ns: "default", wf: "slow", id }, query: { mode: "sync" } },
  body: { reason: "enough" },
});
const ended = cancelled.data;
const again = await client.POST("/workflows/{ns}/{wf}/resume/{id}", {
  params: { path: { ns: "default", wf: "slow", id } },
  body: null,
});
const refused = again.error;
const nobody = await client.GET("/executions/{id}", { params: { path: { id: "nobody" } } });

// @ts-expect-error there is no such mode
void (() => client.POST("/workflows/{ns}/{wf}/run/later", { params: { path: counting } }));
// @ts-expect-error a number of an event is a number
void (() => client.GET("/executions/{id}/events/{seq}/value", { params: { path: { id, seq: "x" } } }));

console.log(
  JSON.stringify({
    output: finished.output,
    events: finished.events?.map(({ type }) => type).slice(0, 2),
    overlap: made.data.overlap,
    listed: listed.data?.items.map(({ workflow, state }) => [workflow, state]),
    shown: typeof shown.data === "object" ? shown.data.workflow : shown.data,
    event: event.data,
    cancelled: [
      cancelled.response.status,
      ended?.state === "CANCELLED" ? ended.error.details?.["reason"] : ended,
    ],
    refused: refused && "error" in refused ? [again.response.status, refused.error] : refused,
    nobody: nobody.error && "error" in nobody.error ? nobody.error.error : undefined,
  }),
);
`;

const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, target: "es2024", module: "nodenext" },
    ...{ allowImportingTsExtensions: true, types: ["node"] },
  },
  include: ["*.ts"],
};

let engine: Engine;
let folder: string;

beforeAll(async () => {
  engine = await startEngine();
  await engine.register("counting", "slow");
  await mkdir(join(root, "e2e/dist"), { recursive: true });
  // Below the workspace, whose packages it uses.
  folder = await mkdtemp(join(root, "e2e/dist/generated-"));
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test("a client that is generated from the document of a server compiles, and runs against it", async () => {
  const document = (await (await fetch(`${engine.url}/openapi.json`)).json()) as OpenAPI3;
  const types = await openapiTS(document);
  await writeFile(join(folder, "engine.ts"), astToString(types));
  await writeFile(join(folder, "program.ts"), PROGRAM);
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  const compiled = await run(join(root, "node_modules/.bin/tsc"), ["-p", folder], {
    cwd: root,
  }).catch((error: { stdout: string }) => error);
  expect(compiled.stdout).toBe("");

  const env = { ...process.env, ENGINE_URL: engine.url };
  const { stdout } = await run(process.execPath, [join(folder, "program.ts")], { env });
  expect(JSON.parse(stdout)).toEqual({
    output: 4,
    events: ["WORKFLOW_CREATED", "WORKFLOW_CLAIMED"],
    overlap: "skip",
    listed: [["counting", "COMPLETED"]],
    shown: "slow",
    event: { version: 1, trigger: { kind: "api" }, label: null },
    cancelled: [200, "enough"],
    refused: [409, expect.objectContaining({ code: "execution_finished" })],
    nobody: expect.objectContaining({ code: "not_found", details: { resource: "execution" } }),
  });
});
