import { EngineError, type SessionRef, type WorkerProtocol } from "@engine/contract";
import { expect, test } from "vitest";
import type { ServiceRequest } from "../runners/messages.ts";
import { FakeServer } from "../testing/fake-server.ts";
import { setTimer } from "../testing/set-timer.ts";
import { createTestSession } from "../testing/test-session.ts";
import { Copies, type Copy } from "./copy.ts";
import { Reservations } from "./reservations.ts";
import { ServiceDesk } from "./service-desk.ts";

type Load = WorkerProtocol["loadValue"];

const REFERENCE = { storage_type: "file", reference_id: "e/0", metadata: {} };
const ASK: ServiceRequest = { method: "loadValue", args: [REFERENCE] };

function createDesk(load: (copy: Copy, asked: Parameters<Load>[2]) => Promise<string>) {
  const copy = new Copies().add({
    execution_id: "e",
    module_hash: "",
    name: null,
    generation: 1,
    seq: 2,
    listening: false,
  });
  const server = new FakeServer();
  const loadValue = (_: SessionRef, _id: string, asked: Parameters<Load>[2]) => load(copy, asked);
  const link: WorkerProtocol = Object.assign(server, { loadValue });
  const stale: Copy[] = [];
  const desk = new ServiceDesk({
    link,
    session: createTestSession(link),
    values: undefined,
    reservations: new Reservations({}),
    setTimer,
    serverTime: Date.now,
    onStale: (gone) => void stale.push(gone),
  });
  return { desk, copy, stale };
}

test("CKP-6 what the server refuses is final and reaches the task as it was said", async () => {
  let calls = 0;
  const { desk, copy } = createDesk(() => {
    calls++;
    throw new EngineError("not_found", "no value e/0", { details: { resource: "value" } });
  });

  expect(await desk.answer(copy, ASK)).toEqual({
    ok: false,
    error: { code: "not_found", message: "no value e/0", details: { resource: "value" } },
  });
  expect(calls).toBe(1);
});

test("CKP-6 trouble on the way and a server that is overloaded are tried again", async () => {
  const troubles = [new Error("reset"), new EngineError("unavailable", "the store is away")];
  const { desk, copy } = createDesk(() => {
    const trouble = troubles.shift();
    return trouble ? Promise.reject(trouble) : Promise.resolve("1");
  });

  expect(await desk.answer(copy, ASK)).toEqual({ ok: true, value: "1" });
});

test("WRK-9 a call whose claim was renewed on the way goes again under the new generation", async () => {
  const generations: number[] = [];
  const { desk, copy, stale } = createDesk((held, { generation }) => {
    generations.push(generation);
    if (generation === 2) return Promise.resolve("1");
    held.generation = 2;
    throw new EngineError("stale_claim", "generation 2 is the current one");
  });

  expect(await desk.answer(copy, ASK)).toEqual({ ok: true, value: "1" });
  expect(generations).toEqual([1, 2]);
  expect(stale).toEqual([]);
});

test("CKP-2 a copy learns by any call that its execution is another worker's", async () => {
  const { desk, copy, stale } = createDesk(() => {
    throw new EngineError("stale_claim", "generation 2 is the current one");
  });

  expect(await desk.answer(copy, ASK)).toBeUndefined();
  expect(stale).toEqual([copy]);
});

test("a call of a copy that stops meanwhile is given up", async () => {
  let calls = 0;
  const { desk, copy } = createDesk((held) => {
    calls++;
    held.state = "releasing";
    throw new Error("reset");
  });

  expect(await desk.answer(copy, ASK)).toBeUndefined();
  expect(calls).toBe(1);
});
