import { readFile } from "node:fs/promises";
import type { ExecutionSummary } from "@engine/contract";
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { Random } from "../harness/random.ts";
import { until } from "../harness/until.ts";
import { logViolations } from "../kill/violations.ts";

const ROUNDS = Number(process.env["E2E_CHILD_ROUNDS"] ?? 6);
const SEED = Number(process.env["E2E_SEED"] ?? Date.now() % 1_000_000);

async function childrenOf(engine: Engine, parent: string): Promise<ExecutionSummary[]> {
  const path = "/executions?workflow=square_of&order=created_asc&limit=200";
  const { body } = await engine.http.get<{ items: ExecutionSummary[] }>(path);
  return body.items.filter(({ parent_id }) => parent_id === parent);
}

test("EXE-54 EXE-55 a parent on the only slot has three children run in it, one for each call", async () => {
  await using engine = await startEngine({ env: { ENGINE_WORKERS__SLOTS: "1" } });
  await engine.register("family");
  const file = engine.home.file("squares.txt");
  const id = await engine.start("sum_of_squares", { file, numbers: [1, 2, 3] });
  expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED", output: 14 });
  const children = await childrenOf(engine, id);
  expect(
    children.map(({ parent_call_id, state, version }) => [parent_call_id, state, version]),
  ).toEqual([1, 2, 3].map((n) => [`map~1/call~${n}`, "COMPLETED", 1]));
  expect((await readFile(file, "utf8")).split("\n").sort()).toEqual(["", "1", "2", "3"]);
});

test("I7 EXE-54 EXE-55 a server killed around the end of a child leaves one child per call and the right sum", {
  timeout: 60_000 + ROUNDS * 10_000,
}, async () => {
  process.stderr.write(`children test: E2E_SEED=${SEED} E2E_CHILD_ROUNDS=${ROUNDS}\n`);
  const random = new Random(SEED);
  await using engine = await startEngine({ env: { ENGINE_WORKERS__SLOTS: "1" } });
  await engine.register("family");
  for (let round = 0; round < ROUNDS; round++) {
    const file = engine.home.file(`squares-${round}.txt`);
    const id = await engine.start("sum_of_squares", { file, numbers: [3, 4, 5] });
    const endings = random.between(1, 3);
    const ended = async () => {
      const text = await readFile(file, "utf8").catch(() => "");
      return text.split("\n").length > endings;
    };
    await until(`${endings} children are about to end`, ended);
    // From before the child's outcome is written until after the parent has gone on.
    await new Promise((resolve) => setTimeout(resolve, random.between(0, 25)));
    await engine.server.kill();
    engine.startServerAgain();
    expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED", output: 50 });

    const children = await childrenOf(engine, id);
    expect(children.map(({ parent_call_id }) => parent_call_id).sort()).toEqual(
      [1, 2, 3].map((n) => `map~1/call~${n}`),
    );
    for (const { execution_id } of [...children, { execution_id: id }]) {
      expect(logViolations(await engine.http.log(execution_id))).toEqual([]);
    }
  }
});
