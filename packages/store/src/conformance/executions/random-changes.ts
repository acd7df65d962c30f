import {
  decideClaim,
  decideWake,
  EngineError,
  handOver,
  type Json,
  type LossReason,
  patchOf,
  type Requirements,
  type ResolvedLimit,
  unowned,
} from "@engine/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Decide } from "../../ports/executions.ts";
import { HOOKS_ON } from "../hooked.ts";
import type { Open } from "../opened.ts";
import { event, executionId, NOW, newExecution } from "../sample.ts";
import type { Command } from "./command.ts";
import {
  changeLimit,
  changeSession,
  expected,
  expectSame,
  type LimitDeed,
  openSessions,
  type SessionDeed,
  send,
  settled,
} from "./compared.ts";
import { changeOutbox, type OutboxDeed, settling } from "./compared-outbox.ts";
import { MemoryModel } from "./memory-model.ts";

export function randomChangesConformance(open: Open): void {
  test("whatever is written together or in turn, the store answers and holds what the model does", async () => {
    await fc.assert(
      fc.asyncProperty(rounds, pages, async (all, lookups) => {
        const store = await open({ hooks: HOOKS_ON });
        try {
          const model = new MemoryModel();
          await openSessions(store, model, ["s1", "s2"]);
          for (const { deeds, allowed, hooks, batch: asked } of all) {
            for (const deed of deeds) await changeSession(store, model, deed);
            for (const deed of allowed) await changeLimit(store, model, deed);
            for (const deed of hooks) await changeOutbox(store, model, deed);
            const batch: Command[] = [];
            for (const command of asked) batch.push(await settling(store, model, command));
            const answers = await Promise.all(
              batch.map((command) => settled(send(store, command))),
            );
            expect(answers).toEqual(batch.map((command) => expected(model, command)));
            expect(await store.queue.listOrphaned(9)).toEqual(model.orphaned(9));
          }
          await expectSame(store, model, lookups);
        } finally {
          await store.close();
        }
      }),
      { numRuns: 40 },
    );
  }, 240_000);
}

const json = fc.oneof(
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 2 }).map(asRead) },
  { weight: 1, arbitrary: fc.integer({ min: 1_900, max: 9_000 }).map((n) => "x".repeat(n)) },
);

/** JSON text has no -0. */
function asRead(value: unknown): Json {
  return JSON.parse(JSON.stringify(value));
}

const id = fc.integer({ min: 1, max: 5 });
const session = fc.constantFrom("s1", "s2");
const now = fc.integer({ min: NOW, max: NOW + 3 });
/** Sometimes that of a session, sometimes one that is over. */
const epoch = fc.integer({ min: 0, max: 2 });
const attributes = fc.integer({ min: 0, max: 2 });
const guard = fc.record(
  { session, epoch, active: fc.boolean(), attributes },
  { requiredKeys: ["session", "epoch", "active"] },
);
const limits: fc.Arbitrary<Requirements> = fc
  .uniqueArray(
    fc.constantFrom<ResolvedLimit>(
      { kind: "concurrency", bucket: '["concurrency","of a workflow"]', count: 1 },
      { kind: "concurrency", bucket: '["concurrency","of a key"]', count: 2 },
      { kind: "concurrency", bucket: '["concurrency","kept"]', count: 1, hold_while_waiting: true },
      {
        kind: "concurrency",
        bucket: '["concurrency","of a workflow"]',
        count: 1,
        overflow: "reject",
      },
      { kind: "rate", bucket: '["concurrency","rate"]', count: 2, period_ms: 86_400_000 },
      { kind: "limit", bucket: '["concurrency","shared"]', name: "shared" },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((some) => ({ limits: some }));
const requirements = fc.oneof(
  fc.constantFrom(null, { worker: "worker-s1" }, { requests: { cpu: 0.5 } }),
  limits,
);
const unique = fc.constantFrom("a", "b").map((key) => ({ key, request_hash: `of ${key}` }));

const create: fc.Arbitrary<Command> = fc
  .record({
    n: id,
    input: json,
    priority: fc.integer({ min: -1, max: 1 }),
    version: fc.constantFrom(1, null),
    now,
    requirements,
    routing_input: fc.constantFrom(null, "k1:sealed", '{"a":1}'),
    not_before: fc.option(fc.integer({ min: NOW, max: NOW + 6 }), { freq: 2 }),
    park_ttl_ms: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 2 }),
    unique: fc.option(unique, { freq: 2 }),
    session: fc.option(session),
    epoch: fc.option(epoch),
    attributes: fc.option(attributes),
    hook: fc.constantFrom(null, null, { name: "page", delivery_id: "d", hop: 1 }),
    settles: fc.option(
      fc.record({
        place: fc.nat(9),
        wrong: fc.constantFrom(...(["nothing", "nothing", "attempts", "revision"] as const)),
      }),
      { freq: 2 },
    ),
  })
  .map(({ n, session, epoch, attributes, unique, settles, ...fields }) => ({
    kind: "create",
    ...(settles && { settles }),
    fresh: newExecution(n, { ...fields, ...(unique && { unique }) }),
    ...(session !== null && {
      claimant: {
        ...{ worker: `worker-${session}`, session, now: fields.now },
        ...(epoch !== null && { epoch }),
        ...(attributes !== null && { attributes }),
      },
    }),
  }));

const loss = fc.record({
  reason: fc.constantFrom<LossReason>("session_lost", "runner_lost", "stuck", "unready"),
  max_crashes: fc.integer({ min: 1, max: 3 }),
  uncounted: fc.boolean(),
});

const decision: fc.Arbitrary<Decide> = fc.oneof(
  fc.array(json, { minLength: 1, maxLength: 4 }).map(
    (values): Decide =>
      (row) => {
        const events = values.map((value, i) => event("TASK_COMPLETED", `${row.head + i}`, value));
        return { events, patch: patchOf(row, events, NOW) };
      },
  ),
  fc.record({ session, now }).map(
    ({ session, now }): Decide =>
      (row) =>
        decideClaim(row, { worker: `worker-${session}`, session, now }),
  ),
  fc.record({ now, loss: fc.option(loss) }).map(
    ({ now, loss }): Decide =>
      (row) =>
        row.session
          ? handOver(row, { now, cancel_timeout_ms: 2, ...(loss && { loss }) })
          : undefined,
  ),
  fc.integer({ min: NOW, max: NOW + 2_000 }).map(
    (now): Decide =>
      (row) =>
        decideWake(row, { now, cancel_timeout_ms: 2, hasWorker: () => true }),
  ),
  fc.constantFrom("Renamed", "GRÖSSE", null).map(
    (name): Decide =>
      () => ({ events: [], patch: { name } }),
  ),
  json.map(
    (output): Decide =>
      (row) => {
        const events = [event("WORKFLOW_FAILED", row.execution_id, { message: "no" })];
        return { events, patch: { ...patchOf(row, events, NOW), ...unowned(row), output } };
      },
  ),
  fc.constant<Decide>(() => undefined),
  fc.constant<Decide>((_, recorded) => {
    throw new EngineError(recorded.length > 1 ? "seq_conflict" : "stale_claim", "no");
  }),
);

const change: fc.Arbitrary<Command> = fc
  .record({
    n: id,
    decide: decision,
    options: fc.record({ above: fc.nat(6), guard }, { requiredKeys: [] }),
  })
  .map(({ n, ...asked }) => ({ kind: "change", execution_id: executionId(n), ...asked }));

const deed: fc.Arbitrary<SessionDeed> = fc.record({
  session,
  // The more often one is named, the likelier it is.
  what: fc.constantFrom(
    ...(["connect", "connect", "connect", "describe", "lose", "end", "pause", "activate"] as const),
  ),
});

const allowed: fc.Arbitrary<LimitDeed> = fc.record({
  name: fc.constant("shared"),
  allowed: fc.option(fc.record({ concurrency: fc.option(fc.nat(2)), rate: fc.constant(null) })),
});

const selectors = fc.uniqueArray(
  fc.constantFrom("execution:*", "execution:*:*:claimed", "task:*:*:greet:completed", "task:*"),
  { minLength: 1, maxLength: 2 },
);

const hooks: fc.Arbitrary<OutboxDeed> = fc.oneof(
  fc.record({
    of: fc.constant("hook"),
    name: fc.constantFrom("h1", "h2"),
    what: fc.constantFrom(...(["make", "make", "disable", "enable", "select", "delete"] as const)),
    selectors,
  }),
  fc.record({
    of: fc.constant("delivery"),
    place: fc.nat(9),
    what: fc.constantFrom(...(["defer", "kill", "retry"] as const)),
  }),
);

const rounds = fc.array(
  fc.record({
    hooks: fc.array(hooks, { maxLength: 3 }),
    deeds: fc.array(deed, { maxLength: 2 }),
    allowed: fc.array(allowed, { maxLength: 1 }),
    batch: fc.array(fc.oneof({ weight: 1, arbitrary: create }, { weight: 3, arbitrary: change }), {
      minLength: 1,
      maxLength: 12,
    }),
  }),
  { maxLength: 6 },
);

const pages = fc.array(
  fc.record(
    { after: fc.nat(8), before: fc.nat(9), limit: fc.integer({ min: 1, max: 5 }) },
    { requiredKeys: [] },
  ),
  { maxLength: 4 },
);
