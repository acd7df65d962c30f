import { ExecutionSeals, type SessionRow, type WorkerRow } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";
import { Session } from "./session.ts";
import { Sessions } from "./sessions.ts";

/** A session that registered with a label and offers a service, and what operators say of its name. */
async function scene() {
  const t = await TestEngine.start();
  onTestFinished(() => t[Symbol.asyncDispose]());
  const worker = t.strangeWorker();
  await worker.register({ labels: { zone: "eu" }, services: ["inference"] });
  const row = (await t.store.workers.find("w")) as WorkerRow & { session: SessionRow };
  const { store, config } = t;
  const seals = new ExecutionSeals(undefined, store.executionKeys);
  const sessions = new Sessions({ store, seals, config, monotonic: t.time.clock });
  const session = new Session(row.session, t.time.clock);
  sessions.add(session, row.session.token_hash);
  const said = (revision: number, metadata: object, granted: readonly string[] = []) => ({
    session: row.session,
    attributes: { revision, metadata: { ...metadata }, granted },
  });
  return { sessions, session, said };
}

test("WMD-2 whoever matches workers hears of what operators say of one, once for each news", async () => {
  const { sessions, session, said } = await scene();
  let room = 0;
  sessions.onRoom(() => void room++);
  const changes: string[] = [];
  sessions.onChange(({ worker }) => void changes.push(worker));
  const known = () => ({ labels: session.labels, metadata: session.metadata, room, changes });
  const before = { labels: { zone: "eu" }, metadata: {} };
  sessions.seeAttributes(said(0, {}));
  expect(known()).toEqual({ ...before, room: 0, changes: [] });
  sessions.seeAttributes(said(2, { tier: "gold" }, ["inference"]));
  sessions.seeAttributes(said(2, { tier: "gold" }, ["inference"]));
  sessions.seeAttributes(said(1, { tier: "old" }));
  sessions.seeAttributes(undefined);
  const labels = { zone: "eu", "engine.service.inference": "true" };
  expect(known()).toEqual({ labels, metadata: { tier: "gold" }, room: 1, changes: ["w"] });
  sessions.seeAttributes(said(3, {}));
  expect(known()).toEqual({ ...before, room: 2, changes: ["w", "w"] });
  expect(session.beside("x")).toMatchObject(before);
});

test("WMD-3 a process that registers again with other services has the labels of those", async () => {
  const { sessions, session, said } = await scene();
  sessions.seeAttributes(said(1, {}, ["inference", "cache"]));
  expect(session.labels).toHaveProperty(["engine.service.inference"], "true");
  session.see({ ...session.row, services: ["cache"] });
  expect(session.labels).toEqual({ zone: "eu", "engine.service.cache": "true" });
});
