/** The fuzz run: random requests to a real server, and whether it is sound when they are over. */
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { type ExecutionRecord, isTerminal } from "@engine/contract";
import { type Engine, startEngine } from "../harness/engine.ts";
import { Random } from "../harness/random.ts";
import { until } from "../harness/until.ts";
import { WORKFLOWS } from "./bodies.ts";
import { Judge } from "./judge.ts";
import { HONEST, Known } from "./known.ts";
import { requestOf } from "./requests.ts";
import type { Settings } from "./settings.ts";
import { bytesOf, Wire } from "./wire.ts";

export interface Finding {
  /** Which request it was, from 0; undefined for what was found afterwards. */
  readonly n: number | undefined;
  readonly message: string;
  /** As it was sent. */
  readonly request: string;
}

export interface Outcome {
  readonly requests: number;
  /** By status; 0 where the connection ended without an answer. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly executions: number;
  readonly honest: number;
  readonly findings: readonly Finding[];
}

/** What nobody waits for is given up early, so that the run ends soon after its last request. */
const ENV = {
  ENGINE_EXECUTIONS__SYNC_TIMEOUT: "1",
  ENGINE_WORKERS__HEARTBEAT_INTERVAL: "2",
  ENGINE_WORKERS__SILENCE_TIMEOUT: "6",
  ENGINE_WORKERS__CLAIM_TIMEOUT: "5",
};
/** An honest run between so many requests. */
const HONEST_EACH = 250;
const TOLD_EACH = 10_000;
const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));

export async function fuzz(
  { requests, seed, store, atATime, findings: most }: Settings,
  say: (line: string) => void,
): Promise<Outcome> {
  await using engine = await startEngine({ store, env: ENV, workers: ["one"] });
  await engine.register(HONEST);
  const { status, body } = await engine.http.post("/workflows", { source: WORKFLOWS });
  if (status !== 201) throw new Error(`not registered: ${JSON.stringify(body)}`);
  await until("the worker is there", async () => {
    return (await engine.http.get("/workers/one")).status === 200;
  });
  const known = new Known();
  const wire = new Wire(engine.url, atATime);
  const judge = new Judge([engine.home.path, REPOSITORY]);
  const statuses = new Map<number, number>();
  const findings: Finding[] = [];
  const honest: Promise<string>[] = [];
  let next = 0;

  async function sendAll(): Promise<void> {
    while (next < requests && findings.length < most) {
      const n = next++;
      if (n % HONEST_EACH === 0) {
        const started = startHonest(engine);
        // What comes of it is asked for at the end.
        started.catch(() => {});
        honest.push(started);
      }
      if (n % TOLD_EACH === 0 && n > 0) say(`${n} requests, ${findings.length} findings`);
      const request = requestOf(new Random(seed * 1_000_003 + n), known);
      const answer = await wire.send(request);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if ("path" in request) known.learn(request.path, answer.text);
      const message = judge.fault(request, answer);
      if (message === undefined) continue;
      const finding = { n, message, request: bytesOf(request).subarray(0, 2_000).toString() };
      findings.push(finding);
      say(`request ${n}: ${message}\n${finding.request}`);
    }
  }

  await Promise.all(Array.from({ length: atATime }, sendAll)).finally(() => wire.close());
  const afterwards = await soundness(engine, honest, store).catch((error: Error) => ({
    executions: 0,
    wrong: [error.message],
  }));
  for (const message of afterwards.wrong) {
    findings.push({ n: undefined, message, request: "" });
    say(`afterwards: ${message}`);
  }
  const { executions } = afterwards;
  return { requests: next, statuses, executions, honest: honest.length, findings };
}

/** A run of a user who means well, on a worker that the fuzz run has no business with. */
async function startHonest({ http }: Engine): Promise<string> {
  const path = `/workflows/default/${HONEST}/run/async`;
  const headers = { "x-engine-require-worker": "one" };
  const { status, body } = await http.post<ExecutionRecord>(path, 1, headers);
  if (status !== 202) throw new Error(`an honest start: ${status} ${JSON.stringify(body)}`);
  return body.execution_id;
}

async function soundness(
  engine: Engine,
  honest: readonly Promise<string>[],
  store: Settings["store"],
): Promise<{ executions: number; wrong: string[] }> {
  const wrong: string[] = [];
  if (engine.server.ended)
    return { executions: 0, wrong: [`the server has ended: ${engine.server.report()}`] };
  if (!(await engine.http.isHealthy())) wrong.push("the server does not answer");
  honest = [...honest, ...Array.from({ length: 20 }, () => startHonest(engine))];
  for (const id of await Promise.all(honest)) {
    await until(
      `honest run ${id} has ended`,
      async () => {
        return isTerminal((await engine.http.execution(id)).state);
      },
      120_000,
    );
    const { state } = await engine.http.execution(id);
    if (state !== "COMPLETED") wrong.push(`the honest run ${id} is ${state}`);
  }
  const executions = await readAll(engine);
  for (const path of ["/workflows", "/schedules", "/workers", "/namespaces"]) {
    const { status } = await engine.http.get(`${path}?limit=1000`);
    if (status !== 200) wrong.push(`GET ${path} answers ${status}`);
  }
  const { output } = engine.server;
  for (const [line] of output.matchAll(/^.*a request failed.*$/gm)) wrong.push(`its log: ${line}`);
  await engine.server.stop();
  if (engine.server.exitCode !== 0) wrong.push(`the server ended with ${engine.server.exitCode}`);
  if (store === "sqlite") wrong.push(...checkFile(engine.home.file(".engine/engine.db")));
  return { executions, wrong };
}

/** Reads every execution with its log; the harness compares each answer with the document. */
async function readAll({ http }: Engine): Promise<number> {
  let read = 0;
  for (let before = ""; ; ) {
    const path = `/executions?limit=200${before && `&before=${before}`}`;
    const { items } = (await http.get<{ items: ExecutionRecord[] }>(path)).body;
    await Promise.all(
      items.map(async ({ execution_id }) => {
        const { status, body } = await http.get(`/executions/${execution_id}?detailed=true`);
        if (status !== 200) throw new Error(`${execution_id}: ${status} ${JSON.stringify(body)}`);
      }),
    );
    read += items.length;
    const last = items.at(-1);
    if (!last) return read;
    before = last.execution_id;
  }
}

function checkFile(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const found = database.prepare("PRAGMA integrity_check").all();
    const strays = database.prepare("PRAGMA foreign_key_check").all();
    const isSound = JSON.stringify(found) === '[{"integrity_check":"ok"}]' && strays.length === 0;
    return isSound
      ? []
      : [`the database is damaged: ${JSON.stringify([found, strays]).slice(0, 500)}`];
  } finally {
    database.close();
  }
}
