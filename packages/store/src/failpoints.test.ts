import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, onTestFinished, test } from "vitest";
import { newExecution } from "./conformance/sample.ts";
import { publishWrites, storeFailpoints } from "./failpoints.ts";
import { interposed } from "./interposed.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store, StoreMethod } from "./store.ts";

async function open(): Promise<Store> {
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: () => 0 });
  onTestFinished(() => store.close());
  return store;
}

test("I1 each write of each port is a failpoint before and after, and those of executions are none", async () => {
  const store = publishWrites(await open());
  const seen: string[] = [];
  const note = (message: unknown, channel: string | symbol) => {
    seen.push(`${String(channel)} ${(message as { of: string[] }).of}`);
  };
  for (const name of ["engine:store:writing", "engine:store:written"]) {
    subscribe(name, note);
    onTestFinished(() => void unsubscribe(name, note));
  }
  await store.executions.create(newExecution(1));
  await store.workers.desire("w", "paused");
  await store.workers.find("w");
  expect(seen).toEqual([
    "engine:store:writing workers.desire",
    "engine:store:written workers.desire",
  ]);
  expect(storeFailpoints("sqlite")).toEqual(expect.arrayContaining(seen));
});

test("what servers say to each other is a failpoint where there can be several", () => {
  const said = (kind: Store["kind"]) => {
    return storeFailpoints(kind).filter((name) => name.includes(" replicas."));
  };
  expect(said("sqlite")).toEqual([]);
  expect(said("postgres")).toEqual(
    ["note", "announce", "lead"].flatMap((name) => [
      `engine:store:writing replicas.${name}`,
      `engine:store:written replicas.${name}`,
    ]),
  );
});

test("a store is seen through what stands between, also by what it does not have", async () => {
  const asked: StoreMethod[] = [];
  const inner = await open();
  const store = interposed(inner, ({ name, kind }, call) => {
    if (name === "replicas.lead") return async () => undefined;
    if (kind !== "read" || !call) return undefined;
    return (...args) => {
      asked.push(name);
      return call(...args);
    };
  });
  await store.executions.create(newExecution(1));
  expect((await store.queue.list({ limit: 1 })).length).toBe(1);
  await store.ping();
  expect(asked).toEqual(["queue.list", "ping"]);
  expect(inner.replicas.lead).toBeUndefined();
  expect(store.replicas.lead).toBeDefined();
  expect(store.replicas.announce).toBeUndefined();
  expect(store.retention).toBe(inner.retention);
});
