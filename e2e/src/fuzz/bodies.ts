/** Bodies as each route wants them, about what is known: what mutations begin with. */
import type { Json } from "@engine/contract";
import type { Random } from "../harness/random.ts";
import { type Claim, type Known, oneOf } from "./known.ts";

export const WORKFLOWS = `import { pause, signal, sleep, task, workflow } from "@engine/sdk";
const step = task({ name: "step", retry: { maxAttempts: 2, delay: 1 } }, async (input: unknown) => input);
export const echo = workflow({ name: "echo" }, async (input: unknown) => step(input));
export const fails = workflow({ name: "fails" }, async () => {
  throw new TypeError("as it should");
});
export const asks = workflow({ name: "asks" }, async () => pause("verdict"));
export const waits = workflow({ name: "waits" }, async () => signal("paid"));
export const naps = workflow({ name: "naps" }, async () => sleep("1h"));
`;

const OTHER = `import { workflow } from "@engine/sdk";
export const gone = workflow({ name: "gone" }, async (input: unknown) => input);
`;

const TIME = "2026-01-01 00:00:00.000";
const FAILURE: Json = {
  ...{ type: "Error", code: null, message: "no", retryable: false },
  ...{ details: null, cause: null, attempts: 1, task_call_id: null },
};
const UNKNOWN: Claim = {
  worker: "fw-0",
  execution_id: "01900000-0000-7000-8000-000000000001",
  generation: 1,
  head: 2,
};

/** The claim that a request is about. */
export function claimOf(random: Random, known: Known): Claim {
  return oneOf(random, known.claims, UNKNOWN);
}

/** @param id The route's place in the table, such as `workers.poll`. */
export function bodyOf(id: string, random: Random, known: Known, claim: Claim): Json {
  const name = oneOf(random, known.workers);
  const held = { execution_id: claim.execution_id, generation: claim.generation };
  const beat = {
    ...{ status: "active", healthy: true, slots_free: 4, metrics: { x: 1 }, resources: null },
    running: [{ ...held, seq: claim.head }],
    stuck_threads: 0,
  };
  const checkpoint = checkpointOf(random, claim);
  const key = { generation: claim.generation, namespace: "default", task: "t", version: "1" };
  const cache = { task: key.task, version: key.version, digest: "0".repeat(64) };
  const bodies: Readonly<Record<string, Json>> = {
    "catalog.register": { source: random.next() < 0.5 ? WORKFLOWS : OTHER },
    "executions.cancel": random.next() < 0.5 ? null : { reason: "enough" },
    "executions.rename": { name: "a label" },
    "executions.fork": oneOf<Json>(random, [null, { from_seq: 2 }, { input: 1, name: "f" }]),
    "schedules.create": {
      name: oneOf(random, known.schedules),
      workflow: oneOf(random, known.workflows),
      spec: specOf(random),
      overlap: "skip",
    },
    "schedules.update": { spec: specOf(random), description: "changed" },
    "fleet.drain": { timeout_seconds: 1 },
    "workers.register": {
      ...{ name, instance_id: `01900000-0000-7000-8000-00000000000${random.between(0, 3)}` },
      ...{ protocol: 1, engine_version: "0.1.0", host: "here", pid: 1, slots: 8 },
      runtime: { os: "linux", arch: "x64", node: "24" },
    },
    "workers.connect": { running: beat.running },
    "workers.poll": { ...beat, wait_seconds: 0.05 },
    "workers.heartbeat": beat,
    "workers.checkpoint": checkpoint,
    "workers.checkpoints": { items: [{ ...checkpoint, execution_id: claim.execution_id }] },
    "workers.checkpointLines": { items: [{ ...checkpoint, execution_id: claim.execution_id }] },
    "workers.release": { items: [{ ...held, reason: "overloaded" }] },
    "workers.progress": {
      generation: claim.generation,
      items: [{ source_id: "step~1", name: "step", value: { n: 1 }, time: TIME }],
    },
    "workers.saveValue": { text: '{"a":1}' },
    "workers.cacheLookup": { generation: claim.generation, ...cache },
    "workers.executionToken": { generation: claim.generation },
    "workers.cacheKeep": { generation: claim.generation, ...cache, value: 1, ttl_ms: 1000 },
  };
  return bodies[id] ?? oneOf<Json>(random, [null, 1, "text", [1, 2], { a: { b: [true] } }]);
}

function specOf(random: Random): Json {
  return oneOf<Json>(random, [
    { type: "interval", every_seconds: 3600 },
    { type: "cron", expression: "0 3 * * *", timezone: "Europe/Berlin" },
    { type: "once", at: "2040-01-01T00:00:00Z" },
  ]);
}

function checkpointOf(random: Random, { execution_id, generation, head }: Claim) {
  const event = (type: string, value: Json, source_id = execution_id, kind: Json = null) => ({
    ...{ type, source_id, name: "echo", kind, value, time: TIME, meta: null },
  });
  const began = [event("WORKFLOW_STARTED", null), event("TASK_STARTED", 1, "step~1")];
  const [state, events] = oneOf<[string, Json[]]>(random, [
    ["RUNNING", began],
    ["COMPLETED", [...began, event("TASK_COMPLETED", 1, "step~1"), event("WORKFLOW_COMPLETED", 2)]],
    ["FAILED", [...began, event("WORKFLOW_FAILED", FAILURE)]],
    [
      "RUNNING",
      [
        ...began,
        event("TASK_RETRY_FAILED", { attempt: 2, max_attempts: 3, error: FAILURE }, "step~1"),
      ],
    ],
    ["RUNNING", [event("TASK_STARTED", { until: "2040-01-01T00:00:00Z" }, "sleep~1", "sleep")]],
    ["RUNNING", [event("TASK_STARTED", { name: "paid" }, "signal~1", "signal")]],
  ]);
  return { generation, base_seq: head, state, events };
}
