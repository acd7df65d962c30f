import type { Command } from "commander";
import { expect, test } from "vitest";
import { capturedIo } from "./io/captured-io.ts";
import { createProgram } from "./program.ts";
import { runCli } from "./run-cli.ts";

async function run(...args: string[]) {
  const io = capturedIo();
  const code = await runCli(args, io);
  return { code, out: io.printed(), err: io.complained() };
}

function leaves(command: Command): Command[] {
  if (command.commands.length === 0) return [command];
  return command.commands.flatMap(leaves);
}

const ours = leaves(createProgram(capturedIo())).filter(
  (command) => command.name() !== "complete" && command.name() !== "help",
);

test("without arguments the command explains itself", async () => {
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out).toContain("Usage: engine [options] [command]");
});

test.each(ours.map((command) => [path(command)]))("help of `%s` shows examples", async (name) => {
  const { code, out } = await run(...name.split(" "), "--help");
  expect(code).toBe(0);
  expect(out).toContain(`Usage: engine ${name}`);
  expect(out).toMatch(/Examples:\n {2}npx engine /);
});

test.each([
  ["engine"],
  ["workflow"],
  ["execution"],
  ["schedule"],
  ["hook"],
  ["service"],
  ["worker"],
  ["roles"],
  ["principals"],
  ["secrets"],
  ["config"],
  ["start"],
  ["auth"],
  ["server"],
])("help of group %s", async (group) => {
  const { out } = await run(...(group === "engine" ? [] : [group]), "--help");
  expect(out).toMatchSnapshot();
});

test.each(
  ours
    .map((command) => command.options.map((option) => option.long))
    .map((options, i) => [path(ours[i] as Command), options] as const)
    .filter(([name]) =>
      /^(workflow|execution|schedule|hook|worker|health|auth|roles|principals|secrets|config)/.test(
        name,
      ),
    ),
)("EXE-95 `%s` calls a server, so it takes --format and --server-url", (_name, options) => {
  expect(options).toEqual(expect.arrayContaining(["--format", "--server-url"]));
});

test.each([
  [["workflwo"], /unknown command 'workflwo'\n {2}\(Did you mean workflow\?\)/],
  [["workflow", "rum"], /Did you mean run\?/],
  [["workflow", "run"], /missing required argument 'ref'/],
  [["workflow", "run", "a/b/c"], /NAME or NAMESPACE\/NAME/],
  [["workflow", "run", "hello", "--mode", "later"], /Allowed choices are sync, async, stream/],
  [["workflow", "run", "hello", "--version", "0"], /whole number of at least 1/],
  [["execution", "list", "--state", "asleep"], /Expected one of created, claimed/],
  [["execution", "list", "--limit", "201"], /whole number from 1 to 200/],
  [["health", "--server-url", "localhost:8000"], /address such as http/],
  [["execution", "list", "--format", "xml"], /Allowed choices are simple, json/],
  [["health", "--colour"], /unknown option '--colour'/],
  [["exec", "hello.ts"], /missing required argument 'workflow_name'/],
  [["workflow"], /Usage: engine workflow/],
])("EXE-95 %j is a usage error: exit code 2, said on stderr", async (args, message) => {
  const { code, out, err } = await run(...args);
  expect(err).toMatch(message);
  expect(out).toBe("");
  expect(code).toBe(2);
});

test.each([
  [["workflwo"], "see: npx engine --help"],
  [["workflow", "rum"], "see: npx engine workflow --help"],
  [["workflow", "run", "hello", "--mode", "later"], "see: npx engine workflow run --help"],
])("EXE-95 the usage error %j ends with the command that helps", async (args, advice) => {
  expect((await run(...args)).err).toMatch(new RegExp(`${advice}\n$`));
});

test("a wrong configuration is one clear line and exit code 1", async () => {
  const io = capturedIo({ env: { ENGINE_SERVER__PORT: "many" } });
  expect(await runCli(["health"], io)).toBe(1);
  expect(io.complained()).toMatch(/^error: ENGINE_SERVER__PORT: .+\n$/);
});

test("EXE-95 a server that does not answer is one clear line and exit code 1", async () => {
  const io = capturedIo();
  // Port 9 of the loopback interface: nothing listens on `discard`.
  expect(await runCli(["health", "--server-url", "http://127.0.0.1:9"], io)).toBe(1);
  expect(io.complained()).toMatch(
    /^error: no answer from http:\/\/127\.0\.0\.1:9 .*npx engine dev.*\n$/,
  );
});

function path(command: Command): string {
  const parent = command.parent;
  return parent?.parent ? `${path(parent)} ${command.name()}` : command.name();
}
