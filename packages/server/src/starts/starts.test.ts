/** What every start has in common, asked as a kind of caller would that exists in no other test. */
import { EngineError, NewSchedule, referenceOf } from "@engine/contract";
import { LargeJson } from "@engine/http/json";
import { expect, test } from "vitest";
import { Commits } from "../commits.ts";
import { LargeInputs } from "../executions/large-inputs.ts";
import { keyOf } from "../schedules/scheduled-starts.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import type { Start } from "./start.ts";
import { Starts } from "./starts.ts";

const STRICT = `import { workflow } from "@engine/sdk";
import { z } from "zod";
export const strict = workflow({ name: "strict", input: z.array(z.string()) }, async (input) => input);
`;

/** One event that starts one workflow, as a hook does. */
const delivered: Start = {
  of: { namespace: "default", workflow: "strict" },
  trigger: { kind: "hook", id: "on-failure" },
  by: "reports",
  input: ["x"],
  root: "envelope",
  key: { text: "hook:1", request_hash: "1" },
};

async function startsOf(t: TestEngine): Promise<Starts> {
  await t.engine.catalog.register({ source: STRICT }, { by: null });
  const { store, values, config, time } = t;
  let seeds = 0;
  const ports = { store, values, config, clock: time.clock, log: silent };
  const commits = new Commits({ store, log: silent });
  return new Starts({
    ports: { ...ports, ids: () => "x", seed: () => `seed-${++seeds}` },
    catalog: t.engine.catalog,
    inputs: new LargeInputs(ports),
    create: async (fresh) => (await commits.create(fresh)).changed,
  });
}

test("EXE-84 a start under a key that is known is answered for the first, whatever it asks for now", async () => {
  await using t = await TestEngine.start();
  const starts = await startsOf(t);
  const { row } = await starts.start(delivered);
  expect(row).toMatchObject({ execution_id: "x", unique_key: "hook:1", priority: 0 });
  const { event } = (await t.store.log.read("x"))[0] ?? expect.unreachable();
  expect(event).toMatchObject({
    value: { version: 1, trigger: { kind: "hook", id: "on-failure" } },
    meta: { by: "reports" },
  });
  await t.engine.catalog.delete("default", "strict");
  const by = () => expect.unreachable("nothing is created that would run for somebody");
  const again = await starts.start({ ...delivered, input: [7], by });
  expect(again).toMatchObject({ row: { execution_id: "x" }, events: [], existing: true });
});

test("EXE-75 the start of a schedule that was made before a crash is found, though its input is refused by now", async () => {
  await using t = await TestEngine.start();
  const spec = { type: "interval", every_seconds: 60 };
  const made = await t.engine.schedules.create(
    NewSchedule.parse({ name: "often", workflow: "hello", spec, overlap: "allow" }),
  );
  const instant = made.next_run_at ?? expect.unreachable();
  const starts = await startsOf(t);
  await starts.start({ ...delivered, key: keyOf(made, instant) });
  const source = STRICT.replaceAll("strict", "hello");
  await t.engine.catalog.register({ source }, { by: null });
  await t.time.advance(61_000);
  const after = await t.engine.schedules.get("often");
  expect(after).toMatchObject({ run_count: 1, failure_count: 0, last_error: null });
});

test("a start is refused for its workflow, then its input, then its worker, then its account", async () => {
  await using t = await TestEngine.start();
  const starts = await startsOf(t);
  const asked: string[] = [];
  const wrong = {
    ...delivered,
    input: [7],
    required_worker: "nobody",
    by: () => {
      asked.push("account");
      return Promise.reject(new EngineError("permission_denied", "the account is disabled"));
    },
  };
  const code = (start: Start) => starts.start(start).catch((error: EngineError) => error.code);
  expect(await code({ ...wrong, of: { namespace: "default", workflow: "none" } })).toBe(
    "not_found",
  );
  expect(await code(wrong)).toBe("invalid_input");
  expect(await code({ ...wrong, input: ["x"] })).toBe("unknown_worker");
  expect(asked).toEqual([]);
  const { required_worker: _, ...rest } = wrong;
  expect(await code({ ...rest, input: ["x"] })).toBe("permission_denied");
});

test("EXE-49 a large input that was kept for a start goes again when the start is refused", async () => {
  await using t = await TestEngine.start({ executions: { inline_value_bytes: 1024 } });
  const starts = await startsOf(t);
  const large = () => LargeJson.of(JSON.stringify(Array.from({ length: 1000 }, () => "x")));
  const { key: _, ...start } = delivered;
  const refused = starts.start({ ...start, input: large(), required_worker: "nobody" });
  await expect(refused).rejects.toMatchObject({ code: "unknown_worker" });
  expect([...t.values.texts.keys()]).toEqual([]);
  const { row } = await starts.start({ ...start, input: large() });
  expect(referenceOf(row.input)).toBeDefined();
  expect(t.values.texts.size).toBe(1);
});
