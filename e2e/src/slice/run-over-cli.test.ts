import type { ExecutionRecord } from "@engine/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { fixture } from "../harness/engine-access.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

/** What a command prints with `--format json`. */
async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await engine.cli(...args, "--format", "json");
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

test("EXE-95 register, list and show tell what a file brought", async () => {
  const first = await engine.cli("workflow", "register", fixture("hello"), fixture("review"));
  expect(first, first.stderr).toMatchObject({ code: 0 });
  expect(first.stdout).toMatch(/hello_world/);
  const listed = await engine.cli("workflow", "list");
  expect(listed.stdout).toMatch(/hello_world/);
  expect(listed.stdout).toMatch(/review/);
  const shown = await json<{ name: string; version: number; tasks: { name: string }[] }>(
    "workflow",
    "show",
    "hello_world",
  );
  expect(shown).toMatchObject({ name: "hello_world", version: 1, tasks: [{ name: "greet" }] });
});

test("EXE-95 run waits in sync mode, resume continues, status and show read it", async () => {
  const file = engine.home.file("cli.txt");
  const input = JSON.stringify({ topic: "the CLI", file });
  const run = (...more: string[]) =>
    json<ExecutionRecord>("workflow", "run", "review", input, "--mode", "sync", ...more);
  const paused = await run();
  expect(paused).toMatchObject({ state: "PAUSED", pause: { name: "verdict" } });
  const id = paused.execution_id;
  expect(await json("workflow", "status", "review", id)).toMatchObject({ state: "PAUSED" });

  const resumed = await json<ExecutionRecord>(
    ...["workflow", "resume", "review", id, '{"ok":true}', "--mode", "sync"],
  );
  expect(resumed).toMatchObject({ state: "COMPLETED", output: "published: On the CLI" });
  expect(await json("execution", "show", id)).toMatchObject({ state: "COMPLETED" });

  const listed = await engine.cli("execution", "list", "--wide");
  expect(listed.stdout).toContain(id);
});

test("EXE-95 a run is async by default and prints the id that status takes", async () => {
  const started = await json<ExecutionRecord>("workflow", "run", "hello_world", "plain text");
  expect(started).toMatchObject({ workflow: "hello_world" });
  await engine.untilEnded(started.execution_id);
  const status = await json("workflow", "status", "hello_world", started.execution_id);
  expect(status).toMatchObject({ state: "COMPLETED", output: "Hello, plain text!" });
});

test("EXE-95 stream mode prints each state as it is reached", async () => {
  const { code, stdout } = await engine.cli(
    ...["workflow", "run", "hello_world", '"x"', "--mode", "stream"],
  );
  expect(code).toBe(0);
  const seen = ["created", "claimed", "running", "completed"].map((state) =>
    stdout.toLowerCase().indexOf(state),
  );
  expect(seen.every((at) => at >= 0)).toBe(true);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
});

test("EXE-95 errors of the server are one line on stderr and exit 1; a wrong usage is exit 2", async () => {
  const missing = await engine.cli("workflow", "run", "nowhere", "1", "--mode", "sync");
  expect(missing).toMatchObject({ code: 1, stdout: "" });
  expect(missing.stderr).toMatch(/^error: .*nowhere.*\n$/);
  const wrong = await engine.cli("workflow", "run");
  expect(wrong.code).toBe(2);
});
