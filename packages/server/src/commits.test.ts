import { interposed, openSqliteStore, type Store } from "@engine/store";
import { expect, test } from "vitest";
import { Commits } from "./commits.ts";
import { ManualTime } from "./testing/manual-time.ts";

const FRESH = {
  execution_id: "01900000-0000-7000-8000-000000000001",
  namespace: "default",
  workflow: "hello",
  version: 1,
  module_hash: "hash",
  input: null,
  trigger: { kind: "api" },
  by: null,
  seed: "seed",
  now: 0,
} as const;

test("I17 one who fails to take a commit in keeps it from nobody else, and the log says so", async () => {
  const { clock } = new ManualTime();
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  const errors: unknown[] = [];
  const error = ({ err }: { readonly err?: unknown }) => void errors.push(err);
  const commits = new Commits({ store, log: { debug() {}, info() {}, warn() {}, error } });
  const told: string[] = [];
  const broken = new Error("a defect");
  const fail = () => {
    throw broken;
  };
  commits.listen(fail);
  commits.listen(({ row }) => void told.push(row.state));
  commits.afterwards(fail);
  commits.afterwards(() => void told.push("afterwards"));

  const { changed } = await commits.create(FRESH);
  expect(changed.row.state).toBe("CREATED");
  expect(told).toEqual(["CREATED", "afterwards"]);
  expect(errors).toEqual([broken, broken]);
  await store.close();
});

/** A store that judges by a row it remembers first, and again once it knows better. */
function judgingTwice(store: Store): Store {
  return interposed(store, ({ name }, call) => {
    if (name !== "executions.change") return undefined;
    return async (...args) => {
      const [execution_id, decide] = args as Parameters<Store["executions"]["change"]>;
      const remembered = await store.executions.find(execution_id);
      if (remembered) decide({ ...remembered, name: null }, [], () => undefined);
      return call?.(...args);
    };
  });
}

test("I6 a decision that runs again is told of as it was written, not as it was thought first", async () => {
  const { clock } = new ManualTime();
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const commits = new Commits({ store: judgingTwice(store), log });
  const told: [name: string | null, ownerHas: number][] = [];
  await commits.create(FRESH);
  commits.listen(({ row }, ownerHas) => void told.push([row.name, ownerHas]));
  const rename = () =>
    commits.change(
      FRESH.execution_id,
      ({ name }) => (name === "b" ? undefined : { events: [], patch: { name: "b" } }),
      { ownerHas: ({ row }) => row.head },
    );
  expect(await rename()).toMatchObject({ wrote: true, changed: { row: { name: "b" } } });
  expect(told).toEqual([["b", 1]]);
  // The row that it remembers would be renamed; the one that is there needs no change.
  expect(await rename()).toMatchObject({ wrote: false, changed: { unchanged: true } });
  expect(told).toHaveLength(1);
  await store.close();
});
