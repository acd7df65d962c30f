/**
 * The workload of a sweep: small stories that go on side by side and together come by every
 * failpoint. Each asks until it is answered, and notes what it was promised.
 */
import { randomUUID } from "node:crypto";
import {
  createUuidV7,
  type ExecutionRecord,
  type LimitDetails,
  SESSION_HEADER,
  WORKER_PROTOCOL,
  type WorkerRecord,
  type WorkerRegistered,
} from "@engine/contract";
import { until } from "../harness/until.ts";
import { firesHooks } from "./hook-strand.ts";
import { ask, PATIENCE_MS } from "./patient.ts";
import type { Site } from "./site.ts";

type Strand = (site: Site) => Promise<void>;

const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };
const uuid = createUuidV7(Date.now, randomUUID);
const post = { method: "POST" } as const;

/** Runs a few tasks, sleeps, and is given another name. */
const runs: Strand = async (site) => {
  const { http, ledger, prefix } = site;
  const id = await site.startAt("/workflows/steps/run/async", { value: 10, key: `${prefix}-runs` });
  ledger.expect(id, "COMPLETED", 14);
  await ask(http, `/executions/${id}/name`, { method: "PUT", body: { name: prefix } });
  await site.untilEnded(id);
};

/** Waits for the end in the request itself, with a value too large for the log. */
const hoards: Strand = async (site) => {
  // What was kept for the same value before would be found.
  const value = 100 * site.number;
  const id = await site.start("hoard", value, "run/sync");
  site.ledger.expect(id, "COMPLETED", value + 2);
  const other = await site.start("hoard", value + 50, "");
  site.ledger.expect(other, "COMPLETED", value + 52);
  await Promise.all([id, other].map((one) => site.untilEnded(one)));
};

/** Is paused, and answered in each of the ways. */
const asks: Strand = async (site) => {
  const ways = [
    (id: string) => `/workflows/default/question/resume/${id}`,
    (id: string) => `/workflows/default/question/resume/${id}/async`,
    (id: string) => `/question/${id}`,
  ];
  await Promise.all(
    ways.map(async (path) => {
      const id = await site.start("question", 40);
      site.ledger.expect(id, "COMPLETED", 47);
      await site.untilWaiting(id, "pause");
      // Whoever asks again after a broken connection is told that somebody was faster.
      await ask(site.http, path(id), { ...post, body: 5 });
      await site.untilEnded(id);
    }),
  );
};

/** Has a child, is copied halfway, and the copy ends too. */
const bears: Strand = async (site) => {
  const { http, ledger } = site;
  const id = await site.start("parent", 50);
  ledger.expect(id, "COMPLETED", 55);
  await site.untilEnded(id);
  const body = { from_call: "book~1" };
  const forked = await ask<ExecutionRecord>(http, `/executions/${id}/fork`, { ...post, body });
  ledger.countUnkeyed(forked);
  ledger.expect(forked.body.execution_id, "COMPLETED", 55);
  await site.untilEnded(forked.body.execution_id);
};

/** Gets one letter while it waits, another while it works, and one that nobody reads. */
const writes: Strand = async (site) => {
  const waiting = await site.start("letters", 60);
  const working = await site.start("correspondence", 70);
  site.ledger.expect(waiting, "COMPLETED", 71);
  site.ledger.expect(working, "COMPLETED", 99);
  watch(site, working);
  await site.untilWaiting(working, "signal");
  await site.signal(working, 9);
  await site.untilWaiting(waiting, "signal");
  await Promise.all([site.signal(waiting, 9), site.signal(waiting, 9)]);
  await Promise.all([waiting, working].map((one) => site.untilEnded(one)));
};

/** While somebody does, its worker reports progress. */
function watch({ http }: Site, id: string): void {
  const reading = async () => {
    for await (const _ of http.follow(id));
  };
  // A stream that breaks is no loss: the workload goes on without it.
  void reading().catch(() => undefined);
}

/** Is told to stop, with its child; another one by a link. */
const cancels: Strand = async (site) => {
  const [told, clicked] = await Promise.all([site.start("guest", 80), site.start("question", 90)]);
  for (const id of [told, clicked]) site.ledger.expect(id, "CANCELLED");
  await Promise.all([site.untilWaiting(told, "child"), site.untilWaiting(clicked, "pause")]);
  await ask(site.http, `/workflows/default/guest/cancel/${told}`, { ...post, body: null });
  await ask(site.http, `/workflows/default/question/cancel/${clicked}`);
  await Promise.all([told, clicked].map((one) => site.untilEnded(one)));
};

const fails: Strand = async (site) => {
  const id = await site.start("trouble", 100);
  site.ledger.expect(id, "FAILED");
  await site.untilEnded(id);
};

/** A schedule from its first word to its last, with one start by plan and one by hand. */
const plans: Strand = async ({ http, ledger, file, prefix, credentials }) => {
  const name = `${prefix}-plan`;
  const input = { file, value: 110 };
  const path = `/schedules/${name}`;
  const isMade = async () => {
    // Refused when its instant had passed before somebody was there to answer.
    const at = new Date(Date.now() + 100).toISOString();
    const run_as = credentials?.account ?? null;
    const body = { name, workflow: "steps", spec: { type: "once", at }, input, run_as };
    const { status } = await ask(http, "/schedules", { ...post, body });
    return status === 201 || status === 409;
  };
  await until(`${name} is made`, isMade, PATIENCE_MS);
  const runsOf = async () => {
    const { body } = await ask<{ items: Run[] }>(http, `${path}/history?limit=100`);
    return body.items;
  };
  await until(`${name} has fired`, async () => (await runsOf()).length > 0, PATIENCE_MS);
  const again = new Date(Date.now() + 3_600_000).toISOString();
  await ask(http, path, { method: "PUT", body: { spec: { type: "once", at: again } } });
  await ask(http, `${path}/pause`, post);
  await ask(http, `${path}/resume`, post);
  ledger.countUnkeyed(await ask(http, `${path}/trigger`, post));
  const runs = await runsOf();
  const planned = runs.filter(({ scheduled_for }) => scheduled_for !== null);
  if (planned.length !== 1) ledger.wrong(`${name} fired ${planned.length} times for one instant`);
  ledger.planned += planned.length;
  for (const { execution_id } of runs) ledger.expect(execution_id, "COMPLETED", 114);
  await ask(http, path, { method: "DELETE" });
};

interface Run {
  readonly execution_id: string;
  readonly scheduled_for: string | null;
}

/** A workflow that comes, is run, is taken away again, and comes back. */
const publishes: Strand = async (site) => {
  const { http, ledger, prefix } = site;
  const name = prefix.replaceAll("-", "_");
  const source = `import { workflow } from "@engine/sdk";\nexport const it = workflow({ name: "${name}" }, async () => 1);\n`;
  const path = `/workflows/default/${name}`;
  for (let count = 0; count < 2; count++) {
    const { status } = await ask(http, "/workflows", { ...post, body: { source } });
    if (status >= 300) ledger.wrong(`${name} was not registered: ${status}`);
    const id = await site.start(name, 120);
    ledger.expect(id, "COMPLETED", 1);
    await ask(http, path, { method: "DELETE" });
    const { status: left } = await ask(http, path);
    if (left !== 404) ledger.wrong(`${name} is there although it was deleted: ${left}`);
  }
};

/** A worker that registers, is described, leaves and is forgotten; another one is given a rest. */
const staffs: Strand = async (site) => {
  const { http, ledger, prefix, credentials } = site;
  const name = `${prefix}-ghost`;
  const registration = {
    name,
    instance_id: uuid(),
    protocol: WORKER_PROTOCOL,
    engine_version: "0.1.0",
    host: "sweep",
    pid: 1,
    runtime: { os: "linux", arch: "x64", node: process.version },
  };
  const { body, status: joined } = await ask<WorkerRegistered>(http, "/workers/register", {
    ...post,
    body: registration,
    headers: bearer(credentials?.bootstrap),
  });
  if (joined >= 300) ledger.wrong(`${name} did not join: ${joined} ${JSON.stringify(body)}`);
  const headers = { [SESSION_HEADER]: body.session, ...bearer(body.credential?.token) };
  const nothing = { items: [] };
  await ask(http, `/workers/${name}/checkpoints`, { ...post, headers, body: nothing });
  // A session is its own worker's: whoever uses another one's is refused, which is written down.
  await ask(http, "/workers/asker/disconnect", { ...post, headers });
  await describe(site, name);
  await allow(site, `limit-of-${name}`);
  await ask(http, `/workers/${name}/disconnect`, { ...post, headers });
  await ask(http, `/admin/workers/${name}`, { method: "DELETE" });
  const { status } = await ask(http, `/admin/workers/${name}/metadata`);
  if (status !== 404) ledger.wrong(`${name} is there although it was forgotten: ${status}`);
  await ask(http, "/admin/workers/asker/pause", post);
  await ask(http, "/admin/workers/asker/resume", post);
};

/** Writes metadata and grants of a worker, of which nothing that was answered may be lost. */
async function describe({ http, ledger }: Site, name: string): Promise<void> {
  const of = `/admin/workers/${name}`;
  const put = (path: string, body?: unknown) => ask(http, of + path, { method: "PUT", body });
  const remove = (path: string) => ask(http, of + path, { method: "DELETE" });
  await put("/metadata", { metadata: { tier: "gold", cost: 1 } });
  await put("/metadata", { metadata: { cost: 2 } });
  await put("/services/inference");
  const { body } = await ask<WorkerRecord>(http, `/workers/${name}`);
  const said = JSON.stringify([body.metadata, body.services?.granted]);
  if (said !== '[{"cost":2,"tier":"gold"},["inference"]]') ledger.wrong(`${name} is ${said}`);
  await remove("/services/inference");
  await remove("/metadata/cost");
  const { body: left } = await ask(http, `${of}/metadata`);
  if (JSON.stringify(left) !== '{"metadata":{"tier":"gold"}}') {
    ledger.wrong(`${name} has ${JSON.stringify(left)}`);
  }
  await remove("/metadata");
  await put("/services/inference");
}

/** Defines a limit, changes it and deletes it: what was answered of it holds. */
async function allow({ http, ledger }: Site, name: string): Promise<void> {
  const of = `/admin/limits/${name}`;
  const put = (body: unknown) => ask(http, of, { method: "PUT", body });
  await put({ concurrency: 2 });
  await put({ concurrency: 3, rate: { count: 5, period_seconds: 60 } });
  const { body } = await ask<LimitDetails>(http, of);
  const said = JSON.stringify([body.concurrency, body.rate]);
  if (said !== '[3,{"count":5,"period_seconds":60}]') ledger.wrong(`limit ${name} is ${said}`);
  await ask(http, of, { method: "DELETE" });
  const { status } = await ask(http, of);
  if (status !== 404) ledger.wrong(`limit ${name} is there although it was deleted: ${status}`);
}

/** An account that gets a role and a key, takes an execution over, is banned and goes; join tokens. */
const admits: Strand = async (site) => {
  const { http, ledger, prefix } = site;
  const remove = { method: "DELETE" } as const;
  const put = (path: string, body: unknown) => ask(http, path, { method: "PUT", body });
  const send = (path: string, body: unknown = null) => ask(http, path, { ...post, body });
  const [role, copy, subject] = [`${prefix}-role`, `${prefix}-copy`, `${prefix}-account`];
  const permissions = ["read", "run", "task:*:execute"].map((of) => `workflow:*:*:${of}`);
  await send("/admin/roles", { name: role, permissions });
  await send(`/admin/roles/${role}/clone`, { new_name: copy });
  await put(`/admin/roles/${role}`, { add_permissions: ["execution:*:read"] });
  const account = `/admin/principals/${subject}`;
  await send("/admin/principals", { subject, type: "service_account", roles: [] });
  await put(account, { display_name: prefix });
  await send(`${account}/roles`, { role });
  await send(`${account}/keys`, { name: "first" });
  const { body } = await ask<{ roles: string[] }>(http, account);
  if (!body.roles?.includes(role)) ledger.wrong(`${subject} has not kept its role ${role}`);

  const id = await site.start("question", 150);
  ledger.expect(id, "CANCELLED");
  await site.untilWaiting(id, "pause");
  await put(`/executions/${id}/principal`, { subject });
  await send("/executions/take-over", { subject, workflow: "nobody" });
  await send(`/workflows/default/question/cancel/${id}`);
  await site.untilEnded(id);

  await ask(http, `${account}/keys/first`, remove);
  await ask(http, `${account}/roles/${role}`, remove);
  for (const change of ["disable", "enable", "ban", "unban"]) await send(`${account}/${change}`);
  await ask(http, `${account}?force=true`, remove);
  for (const name of [role, copy]) await ask(http, `/admin/roles/${name}`, remove);
  const { status } = await ask(http, account);
  if (status !== 404) ledger.wrong(`${subject} is there although it was deleted: ${status}`);

  const tokens = "/admin/workers/join-tokens";
  const made = await ask<{ id: string }>(http, tokens, { ...post, body: {} });
  await ask(http, `${tokens}/${made.body.id}`, remove);
  await send(tokens, { subject: prefix });
  await ask(http, `${tokens}?subject=${prefix}`, remove);
};

/** Secrets and configuration values that come and go, a rotation of keys, and a task that tells nothing. */
const keeps: Strand = async (site) => {
  const { http, ledger, prefix } = site;
  const id = await site.start("whisper", 160);
  ledger.expect(id, "COMPLETED", 162);
  for (const kind of ["secrets", "configs"]) {
    const path = `/admin/${kind}/${prefix}`;
    const put = (value: string) => ask(http, path, { method: "PUT", body: { value } });
    // A configuration value that is a secret of somebody is masked: each kind has values of its own.
    const textOf = (which: string) => `the ${which} of the ${kind} of ${prefix}`;
    for (const which of ["first", "second"]) await put(textOf(which));
    const { body } = await ask<{ value: string }>(http, path);
    if (body.value !== textOf("second")) {
      ledger.wrong(`${path} is ${JSON.stringify(body)}`);
    }
    await ask(http, path, { method: "DELETE" });
    const { status } = await ask(http, path);
    if (status !== 404) ledger.wrong(`${path} is there although it was deleted: ${status}`);
  }
  await ask(http, "/admin/encryption/rotate", post);
  const isDone = async () => {
    const { body } = await ask<{ rotating: boolean }>(http, "/admin/encryption");
    return !body.rotating;
  };
  await until("the keys are rotated", isDone, 30_000);
  await site.untilEnded(id);
};

/** A service that is made, changed and called in each of its ways and as a tool, and goes. */
const offers: Strand = async (site) => {
  const { http, ledger, prefix } = site;
  const path = `/services/${prefix}`;
  const put = (body: unknown) => ask(http, path, { method: "PUT", body });
  // Whoever asks again after a broken connection is told that the name is taken.
  await ask(http, "/services", { ...post, body: { name: prefix, workflows: ["question"] } });
  await put({ add_workflows: ["steps"], mcp_enabled: true });
  await put({ add_exclusions: ["steps"] });
  const { body } = await ask<{ endpoints: readonly { name: string }[] }>(http, path);
  const offered = body.endpoints?.map(({ name }) => name);
  if (offered?.join() !== "question") ledger.wrong(`${prefix} offers ${offered}`);
  await Promise.all(
    ["", "/async"].map(async (mode) => {
      const key = `${prefix}-offers${mode}`;
      const id = await site.startAt(`${path}/question${mode}`, { value: 170, key });
      ledger.expect(id, "COMPLETED", 177);
      await site.untilWaiting(id, "pause");
      await ask(http, `${path}/question/resume/${id}${mode}`, { ...post, body: 5 });
      await site.untilEnded(id);
    }),
  );
  const called = { tool: "question_async", value: 180, key: `${prefix}-offers-tool` };
  const id = await site.startByTool(`${path}/mcp`, called);
  ledger.expect(id, "COMPLETED", 187);
  await site.untilWaiting(id, "pause");
  await ask(http, `${path}/question/resume/${id}/async`, { ...post, body: 5 });
  await site.untilEnded(id);
  await ask(http, path, { method: "DELETE" });
  const { status } = await ask(http, path);
  if (status !== 404) ledger.wrong(`${prefix} is there although it was deleted: ${status}`);
};

const STRANDS: readonly Strand[] = [
  runs,
  hoards,
  asks,
  bears,
  writes,
  cancels,
  fails,
  plans,
  publishes,
  staffs,
  admits,
  keeps,
  offers,
  firesHooks,
];

/** Settles when every story has come to its end; rejects with those that could not. */
export async function runWorkload(site: Site): Promise<void> {
  const settled = await Promise.allSettled(STRANDS.map((strand) => strand(site)));
  const broken = settled.filter((one) => one.status === "rejected").map(({ reason }) => reason);
  if (broken.length > 0) throw new AggregateError(broken, broken.map(String).join("\n"));
}
