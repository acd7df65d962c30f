import {
  type CheckpointAnswer,
  type CheckpointItem,
  EngineError,
  type WorkerProtocol,
} from "@engine/contract";
import type { Delta } from "@engine/sdk/node";
import { expect, test } from "vitest";
import { textCalls } from "../link/text-link.ts";
import { FakeServer } from "../testing/fake-server.ts";
import { createTestSession } from "../testing/test-session.ts";
import { CheckpointLanes } from "./checkpoint-lanes.ts";
import { Copies, type Copy } from "./copy.ts";

const delta = (base_seq: number): Delta => ({
  base_seq,
  state: "RUNNING",
  events: '[{"type":"TASK_STARTED"}]',
});

interface Sent {
  items: readonly CheckpointItem[];
  answer(answers: CheckpointAnswer[] | Error): void;
}

/** Lanes over a server that answers when the test says so. */
function createLanes(lanes: number) {
  const sent: Sent[] = [];
  let arrived = () => {};
  const server: WorkerProtocol = new FakeServer();
  server.checkpoints = (_ref, items) =>
    new Promise((resolve, reject) => {
      const answer: Sent["answer"] = (answers) =>
        answers instanceof Error ? reject(answers) : resolve(answers);
      sent.push({ items, answer });
      arrived();
    });
  const session = createTestSession(server);
  const refused: unknown[] = [];
  const stale: string[] = [];
  return {
    sent,
    refused,
    stale,
    lanes: new CheckpointLanes({
      lanes,
      link: textCalls(server),
      session,
      onStale: (copy) => void stale.push(copy.execution_id),
      onRefused: (_copy, error) => void refused.push(error),
    }),
    /** The next request that was not looked at yet. */
    async next(): Promise<Sent> {
      for (;;) {
        const request = sent.shift();
        if (request) return request;
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
    },
  };
}

const copies = new Copies();
const copyOf = (execution_id: string): Copy =>
  copies.add({
    execution_id,
    module_hash: "",
    name: null,
    generation: 1,
    seq: 2,
    listening: false,
  });
const accept = ({ items }: Sent): CheckpointAnswer[] =>
  items.map(({ execution_id, base_seq, generation }) => ({
    execution_id,
    generation,
    seq: base_seq + 1,
    state: "RUNNING",
  }));

test("CKP-6 what arrives in one turn goes together, and what arrives meanwhile rides the next request", async () => {
  const { lanes, next, sent } = createLanes(1);
  const first = lanes.send(copyOf("a"), delta(2));
  const second = lanes.send(copyOf("b"), delta(2));
  const request = await next();
  const third = lanes.send(copyOf("c"), delta(2));
  const fourth = lanes.send(copyOf("d"), delta(2));
  expect(request.items.map((item) => item.execution_id)).toEqual(["a", "b"]);
  expect(sent).toEqual([]);

  request.answer(accept(request));
  const following = await next();
  expect(following.items.map((item) => item.execution_id)).toEqual(["c", "d"]);
  following.answer(accept(following));
  expect(await Promise.all([first, second, third, fourth])).toEqual(
    Array.from({ length: 4 }, () => ({ kind: "accepted", seq: 3 })),
  );
});

test("CKP-1 RIN-3 routing inputs of calls go with their delta, also when it has to be sent again", async () => {
  const { lanes, next } = createLanes(1);
  const routing_inputs = '{"call~1":{"dataset":"berlin"}}';
  const answered = lanes.send(copyOf("calling"), { ...delta(2), routing_inputs });
  void lanes.send(copyOf("other"), delta(2));
  const lost = await next();
  expect(lost.items[0]).toMatchObject({ routing_inputs: { "call~1": { dataset: "berlin" } } });
  expect(lost.items[1]).not.toHaveProperty("routing_inputs");
  lost.answer(new EngineError("unavailable", "no answer"));
  const again = await next();
  expect(again.items).toEqual(lost.items);
  again.answer(accept(again));
  expect(await answered).toEqual({ kind: "accepted", seq: 3 });
});

test("CKP-5 a request holds at most 256 items", async () => {
  const { lanes, next } = createLanes(1);
  for (let i = 0; i < 300; i++) void lanes.send(copyOf(`many-${i}`), delta(2));
  const request = await next();
  request.answer(accept(request));
  expect(request.items).toHaveLength(256);
  expect((await next()).items).toHaveLength(44);
});

test("CKP-6 two lanes have two requests in flight and an execution stays on one", async () => {
  const { lanes, next } = createLanes(2);
  const known = Array.from({ length: 8 }, (_, i) => copyOf(`lane-${i}`));
  for (const copy of known) void lanes.send(copy, delta(2));
  const [one, two] = [await next(), await next()];
  const ids = (request: Sent) => request.items.map((item) => item.execution_id);
  expect([...ids(one), ...ids(two)].sort()).toEqual(known.map((copy) => copy.execution_id));
  one.answer(accept(one));
  two.answer(accept(two));

  for (const copy of known) void lanes.send(copy, delta(3));
  const again = [await next(), await next()];
  expect(again.map((request) => ids(request).sort())).toEqual(
    expect.arrayContaining([ids(one).sort(), ids(two).sort()]),
  );
});

test("CKP-6 network errors, 429 and 5xx are tried again with the same items", async () => {
  const { lanes, next } = createLanes(1);
  const reply = lanes.send(copyOf("again"), delta(2));
  (await next()).answer(new Error("socket hang up"));
  (await next()).answer(new EngineError("unavailable", "the database is away"));
  const request = await next();
  request.answer(accept(request));
  expect(request.items).toMatchObject([{ execution_id: "again", base_seq: 2, generation: 1 }]);
  expect(await reply).toEqual({ kind: "accepted", seq: 3 });
});

test("WRK-9 a claim that was renewed while its checkpoint was under way is sent again with it", async () => {
  const { lanes, next, stale } = createLanes(1);
  const copy = copyOf("renewed");
  const reply = lanes.send(copy, delta(2));
  const request = await next();
  copy.generation = 2;
  const error = { code: "stale_claim" as const, message: "not owned" };
  request.answer([{ execution_id: "renewed", error }]);
  const second = await next();
  expect(second.items).toMatchObject([{ generation: 2 }]);
  second.answer(accept(second));
  expect(await reply).toEqual({ kind: "accepted", seq: 3 });
  expect(stale).toEqual([]);
});

test("CKP-2 CKP-3 refusals reach the execution they are for and no other", async () => {
  const { lanes, next, stale, refused } = createLanes(1);
  const replies = ["fine", "lost", "grown", "wrong"].map((id) => lanes.send(copyOf(id), delta(2)));
  const request = await next();
  const [fine] = accept(request);
  const details = { head: 4, acknowledged: 3, events: [{ seq: 4 }] };
  if (!fine) throw new Error("no item");
  request.answer([
    fine,
    { execution_id: "lost", error: { code: "stale_claim", message: "not owned" } },
    { execution_id: "grown", error: { code: "seq_conflict", message: "grown", details } },
    { execution_id: "wrong", error: { code: "invalid_input", message: "state does not follow" } },
  ]);

  expect(await Promise.all(replies)).toEqual([
    { kind: "accepted", seq: 3 },
    { kind: "stale" },
    { kind: "conflict", acknowledged: 3, events: [{ seq: 4 }] },
    { kind: "stale" },
  ]);
  expect(stale).toEqual(["lost"]);
  expect(refused).toMatchObject([{ code: "invalid_input" }]);
});

test("CKP-5 a request refused for what one item holds is taken apart: only that item is refused", async () => {
  const { lanes, next, refused } = createLanes(1);
  const replies = ["good", "bad", "other"].map((id) => lanes.send(copyOf(id), delta(2)));
  const error = new EngineError("invalid_input", "body.items[1].events[0].type: is no event type");
  (await next()).answer(error);
  for (const id of ["good", "bad", "other"]) {
    const request = await next();
    expect(request.items.map((item) => item.execution_id)).toEqual([id]);
    request.answer(id === "bad" ? error : accept(request));
  }
  const accepted = { kind: "accepted", seq: 3 };
  expect(await Promise.all(replies)).toEqual([accepted, { kind: "stale" }, accepted]);
  expect(refused).toEqual([error]);
});

test("CKP-2 nothing is sent for a copy that is gone, also when its request is tried again", async () => {
  const { lanes, next } = createLanes(1);
  const [kept, gone] = [copyOf("kept"), copyOf("gone")];
  const replies = [lanes.send(kept, delta(2)), lanes.send(gone, delta(2))];
  const request = await next();
  copies.remove(gone);
  request.answer(new Error("socket hang up"));
  const again = await next();
  expect(again.items.map((item) => item.execution_id)).toEqual(["kept"]);
  again.answer(accept(again));
  expect(await Promise.all(replies)).toEqual([{ kind: "accepted", seq: 3 }, { kind: "stale" }]);
});

test("I17 an answer that makes no sense ends its copy, and holds up nobody behind it", async () => {
  const { lanes, next, refused } = createLanes(1);
  const broken = lanes.send(copyOf("broken"), delta(2));
  const beside = lanes.send(copyOf("beside"), delta(2));
  const request = await next();
  const [, answered] = accept(request);
  const error = { code: "seq_conflict", message: "it grew", details: {} } as const;
  const nonsense = { execution_id: "broken", error } as unknown as CheckpointAnswer;
  request.answer([nonsense, answered as CheckpointAnswer]);
  expect(await beside).toEqual({ kind: "accepted", seq: 3 });
  expect(await broken).toEqual({ kind: "stale" });
  expect(refused).toHaveLength(1);

  const behind = lanes.send(copyOf("behind"), delta(2));
  const following = await next();
  following.answer(accept(following));
  expect(await behind).toEqual({ kind: "accepted", seq: 3 });
});
