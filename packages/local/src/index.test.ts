import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";

// Real processes and threads start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** Runs a program of a user in a folder of its own that has the engine installed. */
async function runProgram(source: string, env: Record<string, string> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "engine-program-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  symlinkSync(
    fileURLToPath(new URL("../../../node_modules", import.meta.url)),
    join(cwd, "node_modules"),
  );
  writeFileSync(join(cwd, "main.mts"), source);
  const args = ["--conditions=@engine/source", "main.mts"];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd,
    env: { PATH: process.env["PATH"], ...env },
  });
  return { cwd, stdout };
}

const HELLO = `
  import { task, workflow } from "@engine/sdk";
  const greet = task({ name: "greet" }, async (name: string) => "Hello, " + name + "!");
  const hello = workflow({ name: "hello" }, async (name: string) => greet(name));
`;

test("EXE-12 importing @engine/local makes workflow.run work, and the process ends by itself", async () => {
  const { cwd, stdout } = await runProgram(`${HELLO}
    import "@engine/local";
    const { output } = await hello.run("World");
    console.log(output);
  `);
  expect(stdout).toBe("Hello, World!\n");
  expect(existsSync(join(cwd, ".engine", "engine.db"))).toBe(true);
});

test("EXE-54 a workflow calls any other that the program defines, and the process ends by itself", async () => {
  const { stdout } = await runProgram(`
    import { call, workflow } from "@engine/sdk";
    import { run } from "@engine/local";
    workflow({ name: "double", namespace: "math" }, async (n: number) => n * 2);
    const main = workflow({ name: "main" }, async () => call("math/double", 21));
    console.log((await run(main)).output);
  `);
  expect(stdout).toBe("42\n");
});

test("EXE-96 run() uses the database that the configuration names", async () => {
  const program = `${HELLO}
    import { run } from "@engine/local";
    const { state } = await run(hello, "World");
    console.log(state);
  `;
  const { cwd, stdout } = await runProgram(program, { ENGINE_DATABASE_URL: "sqlite:other.db" });
  expect(stdout).toBe("COMPLETED\n");
  expect(existsSync(join(cwd, "other.db"))).toBe(true);
  expect(existsSync(join(cwd, ".engine"))).toBe(false);
});

test("EXE-12 without @engine/local, workflow.run rejects and names the import", async () => {
  const { stdout } = await runProgram(`${HELLO}
    await hello.run("World").catch((error) => console.log(error.code, error.message));
  `);
  expect(stdout).toMatch(/^no_local_host .*import "@engine\/local"/);
});

test("a configuration that is wrong rejects the run, not the import", async () => {
  const program = `${HELLO}
    import "@engine/local";
    await hello.run("World").catch((error) => console.log(error.message));
  `;
  const { stdout } = await runProgram(program, { ENGINE_DATABASE_URL: "mysql://x" });
  expect(stdout).toMatch(/expected a database URL sqlite:<path>/);
});
