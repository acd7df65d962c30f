import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { linesOf, registerSteps, SECOND_CALL } from "./steps-file.ts";

/** An execution of the steps that has ended. */
async function finished(engine: Engine): Promise<{ id: string; file: string }> {
  await registerSteps(engine, "check");
  const file = engine.home.file("steps.txt");
  const id = await engine.start("steps", file);
  expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED" });
  return { id, file };
}

/** Forks from the command line and waits for the end. */
async function ended(engine: Engine, ...args: string[]): Promise<ExecutionRecord> {
  const { code, stdout, stderr } = await engine.cli("execution", ...args, "--format", "json");
  if (code !== 0) throw new Error(stderr);
  return engine.untilEnded(JSON.parse(stdout).execution_id);
}

test("EXE-87 a fork from an event or before a call repeats only what comes after; a restart all of it", async () => {
  await using engine = await startEngine();
  const { id, file } = await finished(engine);
  const source = [await engine.http.execution(id), await engine.http.log(id)];
  const gathered = (await engine.http.log(id)).find(({ type }) => type === "TASK_COMPLETED");
  const output = ["gather", "check", "publish"];

  const fromSeq = await ended(engine, "fork", id, "--from-seq", String(gathered?.seq));
  expect(fromSeq).toMatchObject({ state: "COMPLETED", output });
  expect(fromSeq.forked_from).toEqual({ execution_id: id, seq: gathered?.seq });
  expect(await linesOf(file)).toEqual([...output, "check", "publish"]);

  const fromCall = await ended(engine, "fork", id, "--from-call", "publish~1");
  expect(fromCall).toMatchObject({ output, forked_from: { execution_id: id } });
  expect((await linesOf(file)).slice(5)).toEqual(["publish"]);
  const shown = await engine.cli("execution", "show", fromCall.execution_id);
  expect(shown.stdout).toContain(id);

  const other = engine.home.file("restarted.txt");
  const input = JSON.stringify(other);
  expect(await ended(engine, "restart", id, "--input", input)).toMatchObject({ output });
  expect(await linesOf(other)).toEqual(output);

  expect([await engine.http.execution(id), await engine.http.log(id)]).toEqual(source);
});

test("EXE-28 EXE-87 a fork onto a version that does something else fails and names the line of the file", async () => {
  await using engine = await startEngine();
  const { id, file } = await finished(engine);
  await registerSteps(engine, "approve");
  const fork = (call: string) => ended(engine, "fork", id, "--from-call", call, "--version", "2");

  const diverged = await fork("publish~1");
  expect(diverged).toMatchObject({
    state: "FAILED",
    version: 2,
    error: {
      details: {
        type: "NondeterminismError",
        code: "nondeterminism",
        details: {
          position: 1,
          expected: { task_call_id: "check~1" },
          found: { task_call_id: "approve~1" },
          recorded_version: 1,
          running_version: 2,
        },
      },
    },
  });
  expect(diverged.error?.message).toContain(`steps.ts:${SECOND_CALL}`);
  expect(await linesOf(file)).toEqual(["gather", "check", "publish"]);

  // Before the step that differs, the newer version may take over.
  expect(await fork("check~1")).toMatchObject({
    state: "COMPLETED",
    output: ["gather", "approve", "publish"],
  });
});
