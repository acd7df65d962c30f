import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { CliProcess, type CliResult } from "../harness/cli-process.ts";
import { fixture } from "../harness/engine-access.ts";
import { createHome, type Home } from "../harness/home.ts";

function exec(home: Home, ...args: string[]): Promise<CliResult> {
  const env = { ENGINE_HOME: home.file(".engine") };
  return new CliProcess(["exec", ...args], { cwd: home.path, env }).result();
}

test("EXE-95 exec runs a workflow of a file without a server and prints its output as JSON", async () => {
  await using home = await createHome();
  const result = await exec(home, fixture("hello"), "hello_world", '"World"');
  expect(result, result.stderr).toMatchObject({ code: 0, stdout: '"Hello, World!"\n' });
});

test("EXE-12 EXE-14 a paused local run tells how to go on, and goes on with the same execution id", async () => {
  await using home = await createHome();
  const file = home.file("bodies.txt");
  const input = JSON.stringify({ topic: "exec", file });
  const paused = await exec(home, fixture("review"), "review", input);
  expect(paused).toMatchObject({ code: 0, stdout: "" });
  expect(paused.stderr).toMatch(/verdict/);
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(paused.stderr)?.[0] ?? "";
  expect(paused.stderr).toContain(`--execution-id ${id}`);

  const more = ["--execution-id", id];
  const done = await exec(home, fixture("review"), "review", '{"ok":true}', ...more);
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: '"published: On exec"\n' });
  expect(await readFile(file, "utf8")).toBe("write\npublish\n");

  // A terminal one answers from the log and runs nothing.
  const again = await exec(home, fixture("review"), "review", ...more);
  expect(again, again.stderr).toMatchObject({ code: 0, stdout: '"published: On exec"\n' });
  expect(await readFile(file, "utf8")).toBe("write\npublish\n");
});

test("EXE-95 a failed local run says what failed and exits 1", async () => {
  await using home = await createHome();
  const { code, stderr } = await exec(home, fixture("trouble"), "failing", "out of range");
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: .*failing/);
  expect(stderr).toMatch(/RangeError: out of range/);
  expect(stderr).not.toMatch(/\n\s+at /);
});
