import { openSqliteStore } from "@engine/store";
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
