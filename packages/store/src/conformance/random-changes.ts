import { decideClaim, EngineError, handOver, type Json, patchOf, unowned } from "@engine/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryModel } from "../memory-model.ts";
import type { Decide } from "../store.ts";
import { type Command, expected, expectSame, send, settled } from "./compared.ts";
import type { Open } from "./opened.ts";
import { event, executionId, NOW, newExecution } from "./sample.ts";

export function randomChangesConformance(open: Open): void {
  test("whatever is written together or in turn, the store answers and holds what the model does", async () => {
    await fc.assert(
      fc.asyncProperty(batches, pages, async (rounds, lookups) => {
        const store = await open();
        try {
          const model = new MemoryModel();
          for (const batch of rounds) {
            const answers = await Promise.all(
              batch.map((command) => settled(send(store, command))),
            );
            expect(answers).toEqual(batch.map((command) => expected(model, command)));
          }
          await expectSame(store, model, lookups);
        } finally {
          await store.close();
        }
      }),
      { numRuns: 40 },
    );
  }, 60_000);
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

const create: fc.Arbitrary<Command> = fc
  .record({
    n: id,
    input: json,
    priority: fc.integer({ min: -1, max: 1 }),
    version: fc.constantFrom(1, null),
    now,
    session: fc.option(session),
  })
  .map(({ n, session, ...fields }) => ({
    kind: "create",
    fresh: newExecution(n, fields),
    ...(session !== null && {
      claimant: { worker: `worker-${session}`, session, now: fields.now },
    }),
  }));

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
  now.map(
    (at): Decide =>
      (row) =>
        row.session ? handOver(row, at, 2) : undefined,
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
  .record({ n: id, decide: decision, above: fc.option(fc.nat(6)) })
  .map(({ n, decide, above }) => ({
    kind: "change",
    execution_id: executionId(n),
    decide,
    ...(above !== null && { above }),
  }));

const batches = fc.array(
  fc.array(fc.oneof({ weight: 1, arbitrary: create }, { weight: 3, arbitrary: change }), {
    minLength: 1,
    maxLength: 12,
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
