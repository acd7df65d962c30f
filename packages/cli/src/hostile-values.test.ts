// biome-ignore-all lint/suspicious/noControlCharactersInRegex: none of them may be printed
import type { Command } from "commander";
import { expect, test, vi } from "vitest";
import { capturedIo } from "./io/captured-io.ts";
import { createProgram } from "./program.ts";
import { runCli } from "./run-cli.ts";
import { type StartedDev, startDev } from "./started-dev.ts";

// A server and a worker start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/** A title, colours, a cleared screen, a C1 sequence, text turned around, lines that pass for others. */
const EVIL =
  "\u001b]0;owned\u0007\u001b[31mred by data\u001b[2J\u009b31m\u202eliame\u2066\r" +
  "\nerror: forged\r\n✓ completed   forged\u2028\u007f\b\tend";
/** Of a value that is printed alone every line is its own. */
const ON_ONE_LINE = EVIL.replaceAll("\n", " ");
const QUOTED = JSON.stringify(EVIL);

const FLOWS = `
import { pause, signal, task, workflow } from "@engine/sdk";
const evil = ${QUOTED};
/** Charges \u001b[31mred by data\u202e. */
const charge = task({ name: "charge" }, async (text: string) => {
  throw Object.assign(new Error(evil + text), { name: evil, details: { [evil]: evil } });
});
/** About \u001b[31mred by data\u202e\u009b31m. */
export const fails = workflow({ name: "fails", metadata: { note: evil } }, async (text: string) => charge(text));
export const pauses = workflow({ name: "pauses" }, async () => pause("review", { output: { [evil]: evil } }));
export const waits = workflow({ name: "waits" }, async () => signal("word"));
export const echoes = workflow({ name: "echoes" }, async (text: string) => [text]);
`;

/** Every control character but line end and tab, and everything that turns text around. */
const HARMFUL = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029]/u;
const OWN_STYLE = /\u001b\[(?:1|2|22|31|32|33|39)m/g;

/** Fails when a terminal would do something with what data brought, or take it for a line of ours. */
function expectHarmless(text: string, what: string): void {
  expect(text, what).not.toMatch(/\u001b\[31mred by data/);
  expect(text.replaceAll(OWN_STYLE, ""), what).not.toMatch(HARMFUL);
  expect(text, what).not.toMatch(/^(?:error: forged|✓ completed {3}forged)/m);
}

interface Shown {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function at(dev: StartedDev, args: readonly string[], columns?: number): Promise<Shown> {
  const stopped = { first: Promise.resolve(), second: new Promise<void>(() => {}) };
  const io = capturedIo({
    ...(columns !== undefined && { columns }),
    cwd: dev.cwd,
    env: { ENGINE_SERVER_URL: dev.url, ENGINE_HOME: `${dev.cwd}/local` },
    now: Date.now,
    // What follows for ever is left at once.
    stopSignals: () => stopped,
  });
  const code = await runCli(args, io);
  return { code, out: io.printed(), err: io.complained() };
}

async function started(dev: StartedDev, args: readonly string[], state: RegExp): Promise<string> {
  const run = await dev.engine("workflow", "run", ...args, "--format", "json");
  expect(run.err).toBe("");
  const { execution_id: id } = JSON.parse(run.out) as { execution_id: string };
  await vi.waitFor(
    async () => expect((await dev.engine("execution", "show", id)).out).toMatch(state),
    { timeout: 20_000 },
  );
  return id;
}

test("what data says reaches a terminal as text only, by every command that shows it, and JSON as it is", async () => {
  await using dev = await startDev({
    "flows.ts": FLOWS,
    "evil.txt": ON_ONE_LINE,
    "odd\u001b[31mred by data.ts": "export {",
  });
  expectHarmless(dev.io.printed() + dev.io.complained(), "engine dev");
  const failed = await started(dev, ["fails", QUOTED, "--name", EVIL], /failed/);
  const paused = await started(dev, ["pauses"], /paused/);
  const waiting = await started(dev, ["waits"], /waits for/);
  const echoed = await started(dev, ["echoes", QUOTED], /completed/);
  const cancelled = await started(dev, ["waits"], /waits for/);
  await dev.engine("workflow", "cancel", "waits", cancelled, "--sync", "--reason", EVIL);
  const described = ["--every", "1d", "--description", EVIL, "--input", QUOTED];
  await dev.engine("schedule", "create", "fails", "nightly", ...described);
  await dev.engine("schedule", "trigger", "nightly");
  await started(dev, ["echoes", '"x"'], /completed/);

  const fires = ["--on", "execution:*", "--workflow", "fails"];
  const commands: readonly (readonly string[])[] = [
    ["workflow", "register", "flows.ts"],
    ["workflow", "register", "odd\u001b[31mred by data.ts"],
    ["workflow", "run", "fails", QUOTED, "--mode", "sync", "--detailed"],
    ["workflow", "run", "fails", QUOTED, "--mode", "stream"],
    ["workflow", "run", "echoes", EVIL, "--mode", "stream"],
    ["workflow", "run", "pauses", "--mode", "stream"],
    ["workflow", "run", "fails", "--name", EVIL.repeat(9)],
    ["workflow", "resume", "pauses", paused, "--pause", EVIL.slice(3)],
    ["workflow", "status", "fails", failed],
    ["workflow", "cancel", "waits", cancelled, "--reason", EVIL],
    ["workflow", "replay", "fails", "--file", "gone\u001b[31mred by data.ts"],
    ["workflow", "list"],
    ["workflow", "list", "-n", EVIL],
    ["workflow", "namespaces"],
    ["workflow", "show", "fails", "--source"],
    ["workflow", "versions", "fails"],
    ["workflow", "placement", "fails", QUOTED],
    ["workflow", "placement", EVIL],
    ["workflow", "delete", "fails"],
    ["workflow", "types", "--out", "-"],
    ["execution", "list"],
    ["execution", "list", "--wide"],
    ["execution", "list", "--name", EVIL],
    ["execution", "show", failed, "--detailed"],
    ["execution", "show", paused, "--detailed"],
    ["execution", "show", cancelled],
    ["execution", "show", EVIL],
    ["execution", "events", failed],
    ["execution", "events", waiting],
    ["why", failed],
    ["why", paused],
    ["why", waiting],
    ["why", EVIL],
    ["execution", "watch", failed],
    ["execution", "watch", waiting, "--events"],
    ["execution", "rename", failed, `again ${EVIL}`],
    ["execution", "signal", waiting, EVIL, QUOTED],
    ["execution", "resume", paused, "--pause", EVIL],
    ["execution", "cancel", cancelled, "--reason", EVIL],
    ["execution", "fork", failed, "--name", EVIL, "--from-call", EVIL],
    ["execution", "restart", echoed, "--name", EVIL],
    ["execution", "export", failed],
    ["execution", "take-over", failed, "--run-as", EVIL],
    ["execution", "take-over", "--all", "--from", EVIL, "--run-as", `to ${EVIL}`],
    ["execution", "take-over", "--all", "--yes", "--from", EVIL, "--run-as", "bot"],
    ["schedule", "create", "fails", "another", ...described],
    ["schedule", "list"],
    ["schedule", "list", "--workflow", EVIL],
    ["schedule", "show", "nightly"],
    ["schedule", "update", "nightly", "--description", `now ${EVIL}`],
    ["schedule", "pause", "nightly"],
    ["schedule", "resume", "nightly"],
    ["schedule", "trigger", "nightly"],
    ["schedule", "history", "nightly"],
    ["schedule", "delete", "nightly"],
    ["hook", "create", "evil", ...fires, "--principal", "bot", "--disabled"],
    ["hook", "create", EVIL, ...fires, "--principal", EVIL],
    ["hook", "create", "other", "--on", EVIL, "--workflow", "fails", "--principal", "bot"],
    ["hook", "list"],
    ["hook", "get", "evil"],
    ["hook", "get", EVIL],
    ["hook", "update", "evil", "--on", EVIL],
    ["hook", "update", "evil", "--principal", EVIL],
    ["hook", "test", "evil", "--value", QUOTED],
    ["hook", "test", "evil", "--selector", EVIL],
    ["hook", "deliveries", "evil"],
    ["hook", "deliveries", EVIL],
    ["hook", "delivery", "evil", EVIL],
    ["hook", "retry", "evil", EVIL],
    ["hook", "retry", EVIL, "--all"],
    ["hook", "delete", EVIL],
    ["hook", "delete", "evil"],
    ["service", "create", "evil", "--workflow", "fails", "--mcp", "--description", EVIL],
    ["service", "create", EVIL],
    ["service", "add", "evil", "--namespace", "default"],
    ["service", "remove", "evil", "--namespace", "default"],
    ["service", "exclude", "evil", EVIL],
    ["service", "include", "evil", "fails"],
    ["service", "update", "evil", "--description", `now ${EVIL}`],
    ["service", "list"],
    ["service", "show", "evil"],
    ["service", "show", EVIL],
    ["service", "tools", "evil"],
    ["service", "tools", EVIL],
    ["service", "start", EVIL],
    ["service", "delete", "evil"],
    ["worker", "list"],
    ["worker", "show", "dev"],
    ["worker", "show", EVIL],
    ["worker", "pause", EVIL],
    ["worker", "resume", EVIL],
    ["worker", "drain", EVIL],
    ["worker", "delete", EVIL],
    ["limit", "set", EVIL, "--concurrency", "1"],
    ["limit", "set", "openai", "--rate", EVIL],
    ["limit", "list"],
    ["limit", "show", EVIL],
    ["limit", "delete", EVIL, "--yes"],
    ["worker", "metadata", "set", EVIL, "a=b"],
    ["worker", "metadata", "set", "dev", EVIL],
    ["worker", "metadata", "set", "dev", `a=${EVIL}`],
    ["worker", "metadata", "set", "dev", `a=\u009b31mred by data\u202e\u2028error: forged`],
    ["worker", "metadata", "show", EVIL],
    ["worker", "metadata", "show", "dev"],
    ["worker", "metadata", "unset", "dev", EVIL],
    ["worker", "metadata", "clear", EVIL],
    ["worker", "service", "grant", "dev", EVIL],
    ["worker", "service", "revoke", "dev", EVIL],
    ["worker", "service", "list", EVIL],
    ["worker", "show", "dev"],
    ["health", "--server-url", `${dev.url}/${EVIL}`],
    ["db", "upgrade", "--database-url", `sqlite:${dev.cwd}/${EVIL}/x.db`],
    ["db", "current", "--database-url", `sqlite:${dev.cwd}/engine.db`],
    ["db", "history", "--database-url", EVIL],
    ["exec", "flows.ts", "fails", QUOTED],
    ["exec", "flows.ts", "pauses"],
    ["exec", "flows.ts", EVIL],
    ["start", "server", "--port", EVIL],
    ["start", "worker", EVIL],
    ["server", "admin-key"],
    ["server", "audit"],
    ["server", "audit", "--actor", EVIL],
    ["server", "bootstrap-token"],
    ["server", "join-token", "--subject", EVIL],
    ["server", "join-tokens", "--server-url", EVIL],
    ["server", "revoke-join-token", "--id", EVIL],
    ["auth", "login", "--server-url", dev.url],
    ["auth", "logout", "--server-url", EVIL],
    ["auth", "status", "--server-url", EVIL],
    ["auth", "whoami", "--server-url", `${dev.url}/${EVIL}`],
    ["auth", "check", EVIL],
    ["auth", "permissions", "--workflow", EVIL],
    ["auth", "test-token", "--server-url", EVIL],
    ["roles", "create", "evil", "--permission", "a:b", "--description", EVIL],
    ["roles", "create", EVIL, "--permission", EVIL],
    ["roles", "clone", "evil", "--new-name", EVIL],
    ["roles", "list"],
    ["roles", "show", "evil"],
    ["roles", "update", "evil", "--add", EVIL],
    ["roles", "delete", EVIL],
    ["principals", "create", "bot", "--type", "service_account", "--display-name", EVIL],
    ["principals", "list"],
    ["principals", "show", "bot"],
    ["principals", "show", EVIL, "--issuer", EVIL],
    ["principals", "update", "bot", "--display-name", `now ${EVIL}`],
    ["principals", "grant", "bot", "--role", EVIL],
    ["principals", "revoke", "bot", "--role", EVIL],
    ["principals", "enable", EVIL],
    ["principals", "disable", "bot"],
    ["principals", "ban", "bot", "--reason", EVIL],
    ["principals", "unban", "bot"],
    ["principals", "create-key", "bot", "--key-name", EVIL],
    ["principals", "list-keys", "bot"],
    ["principals", "revoke-key", "bot", "--key-name", EVIL],
    ["principals", "delete", EVIL],
    ["secrets", "set", "evil", "--from-file", "evil.txt", "--unmasked", "--description", EVIL],
    ["secrets", "list"],
    ["secrets", "get", "evil", "--yes"],
    ["secrets", "remove", EVIL],
    ["secrets", "keys", "--server-url", EVIL],
    ["secrets", "rotate-keys"],
    ["config", "set", "evil", ON_ONE_LINE, "--description", EVIL],
    ["config", "list"],
    ["config", "get", "evil"],
    ["config", "remove", EVIL],
    ["dev", EVIL, "--port", EVIL],
    [EVIL],
  ];
  for (const args of commands) {
    const what = args.slice(0, 2).join(" ");
    for (const columns of [80, undefined]) {
      const { out, err } = await at(dev, args, columns);
      expect(out + err, what).not.toBe("");
      expectHarmless(out + err, what);
    }
  }
  const typed = commands.map((args) => args.join(" "));
  const missed = leaves(createProgram(capturedIo())).filter(
    (path) => !typed.some((line) => line.startsWith(path)),
  );
  expect(missed).toEqual(["completion", "complete", "help"].filter((one) => missed.includes(one)));

  const json = await at(dev, ["execution", "show", failed, "--format", "json"]);
  expectHarmless(json.out, "json");
  expect(JSON.parse(json.out)).toMatchObject({ name: `again ${EVIL}`.trim(), input: EVIL });
  const exported = await at(dev, ["execution", "export", echoed]);
  expect(JSON.parse(exported.out).execution.input).toBe(EVIL);
});

test("a failure shows the escape it was told with, and its lines stay below its own label", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const id = await started(dev, ["fails", '""'], /failed/);
  const { out } = await at(dev, ["execution", "show", id]);
  expect(out).toContain("\\u001b[31mred by data\\u001b[2J\\u009b31m\\u202eliame\\u2066");
  expect(out).toMatch(/^ {12,}error: forged$/m);
});

function leaves(command: Command, above = ""): string[] {
  return command.commands.flatMap((below) => {
    const path = `${above}${below.name()}`;
    return below.commands.length === 0 ? [path] : leaves(below, `${path} `);
  });
}
