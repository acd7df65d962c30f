import { expect, test } from "vitest";
import { startEngine } from "../harness/engine.ts";
import { registerSteps, SECOND_CALL, stepsSource } from "./steps-file.ts";

test("EXE-88 EXE-95 an exported history is replayed against changed code: which diverges, where, exit 1", async () => {
  await using engine = await startEngine();
  await registerSteps(engine, "check");
  const id = await engine.start("steps", engine.home.file("steps.txt"));
  await engine.untilEnded(id);
  const history = engine.home.file("history.json");
  expect(await engine.cli("execution", "export", id, "--out", history)).toMatchObject({ code: 0 });

  const replay = async (second: string) => {
    const path = await engine.home.write("steps.ts", stepsSource(second));
    return engine.cli("workflow", "replay", "--history", history, "--file", path);
  };
  const same = await replay("check");
  expect(same).toMatchObject({ code: 0, stderr: "" });
  expect(same.stdout).toContain("1 execution replayed: 1 ok");

  const changed = await replay("approve");
  expect(changed).toMatchObject({ code: 1, stderr: "error: 1 of 1 diverged\n" });
  expect(changed.stdout).toMatch(/expected +check~1/);
  expect(changed.stdout).toMatch(/found +approve~1/);
  expect(changed.stdout).toContain(`steps.ts:${SECOND_CALL}`);

  // The server's own executions, against the newest version it has.
  await registerSteps(engine, "approve");
  const all = await engine.cli("workflow", "replay", "steps", "--format", "json");
  expect(all.code).toBe(1);
  expect(JSON.parse(all.stdout)).toMatchObject([{ execution_id: id, result: "diverged" }]);
});
