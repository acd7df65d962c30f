import { expect, test, vi } from "vitest";
import { type CapturedIo, capturedIo } from "../io/captured-io.ts";
import { runCli } from "../run-cli.ts";
import { startDev } from "../started-dev.ts";

// Real processes and threads start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const FLOWS = `
import { pause, progress, task, workflow } from "@engine/sdk";
const greet = task({ name: "greet" }, async (name: string) => { progress({ greeting: name }); return "Hello, " + name + "!"; });
export const helloWorld = workflow({ name: "hello_world" }, async (name: string) => greet(name));
export const review = workflow({ name: "review", namespace: "shop" }, async () => pause("approve", { output: 1 }));
export const broken = workflow({ name: "broken" }, async () => { throw new RangeError("out of stock"); });
`;

function commandsOf(io: CapturedIo): string[][] {
  const lines = io.printed().matchAll(/^ {2}npx engine (.*)$/gm);
  return Array.from(lines, ([, line = ""]) =>
    line.split(" ").map((word) => word.replace(/^'(.*)'$/, "$1")),
  );
}

test("dev serves the workflows of a folder, and the commands it prints work as printed", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const { io, cwd, stop } = dev;
  expect(io.printed()).toMatch(/hello_world +1 +created +greet/);
  // AUTH-2: one warning, naming the address.
  expect(
    io.complained().match(/authentication is off: whoever reaches 127\.0\.0\.1:\d+/g),
  ).toHaveLength(1);

  const commands = commandsOf(io);
  expect(commands).toHaveLength(3);
  const outputs: string[] = [];
  for (const command of commands) {
    const user = capturedIo({ cwd, now: Date.now });
    expect(await runCli(command, user)).toBe(0);
    outputs.push(user.printed());
  }
  expect(outputs[0]).toMatch(/✓ completed +hello_world v1\n[\s\S]*output +"Hello, World!"/);
  expect(outputs[1]).toMatch(/shop\/review +1/);
  expect(outputs[2]).toMatch(/✓ completed +hello_world v1/);
  expect(await stop()).toBe(0);
});

test("EXE-95 the commands of a server: run in each mode, resume, status, show, events, register", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const { engine } = dev;

  const stream = await engine("workflow", "run", "hello_world", "World", "--mode", "stream");
  const words = stream.out
    .trim()
    .split("\n")
    .map((line) => line.split(/\s+/).slice(1, 3).join(" "));
  expect(words.filter((word) => !word.startsWith("·"))).toEqual([
    "○ created",
    "◔ claimed",
    "● running",
    "✓ completed",
  ]);
  expect(stream.code).toBe(0);

  const failed = await engine("workflow", "run", "broken", "--mode", "sync", "--format", "json");
  expect(failed.code).toBe(1);
  expect(failed.err).toBe("error: broken v1 failed: RangeError: out of stock\n");
  expect(JSON.parse(failed.out)).toMatchObject({ state: "FAILED" });

  const paused = await engine("workflow", "run", "shop/review", "--mode", "sync");
  expect(paused.code).toBe(0);
  const [, id = ""] =
    /resume it with: npx engine workflow resume shop\/review (\S+) /.exec(paused.err) ?? [];
  expect((await engine("execution", "list", "--state", "paused", "--wide")).out).toContain(id);
  expect((await engine("workflow", "status", "shop/review", id)).out).toMatch(
    /waits for +pause approve, since/,
  );
  const done = await engine(
    "workflow",
    "resume",
    "shop/review",
    id,
    '{"ok":true}',
    "--format",
    "json",
  );
  expect(JSON.parse(done.out)).toMatchObject({ state: "COMPLETED", output: { ok: true } });
  expect((await engine("execution", "show", id, "--detailed")).out).toMatch(
    /TASK_RESUMED +pause~1/,
  );
  const events = JSON.parse((await engine("execution", "events", id, "--format", "json")).out);
  expect(events.items.map((event: { seq: number }) => event.seq)).toEqual(
    Array.from({ length: events.total }, (_, i) => i + 1),
  );
  expect(await engine("workflow", "resume", "shop/review", id)).toMatchObject({
    code: 1,
    err: /^error: .*COMPLETED/,
  });

  expect((await engine("workflow", "register", "flows.ts")).out).toMatch(
    /hello_world +1 +unchanged/,
  );
  expect((await engine("workflow", "show", "hello_world", "--source")).out).toContain(
    "// flows.ts",
  );
  expect((await engine("workflow", "versions", "hello_world")).out).toMatch(/^VERSION/);
  expect((await engine("workflow", "namespaces")).out).toMatch(/shop +1/);
  expect((await engine("health")).out).toMatch(/^✓ healthy/);
  expect(await engine("workflow", "run", "nobody")).toMatchObject({
    code: 1,
    err: "error: no workflow default/nobody; see all of them with: npx engine workflow list\n",
  });
});

test("EXE-64 EXE-95 a refused file prints file:line:column, rule, message and the line with a caret", async () => {
  await using dev = await startDev({
    "flows.ts": FLOWS,
    "lib/bad.ts":
      'import { workflow } from "@engine/sdk";\nexport const a = workflow({ name: process.env.NAME }, async () => 1);\n',
  });
  const { io, engine } = dev;
  expect(io.complained()).toMatch(
    /^lib\/bad\.ts:2:35 not_static .*\n +2 \| export const a = .*\n +\| {35}\^\nerror: lib\/bad\.ts cannot be registered$/m,
  );
  // The other file is served all the same.
  expect(io.printed()).toMatch(/hello_world +1 +created/);
  const refused = await engine("workflow", "register", "lib/bad.ts");
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(/error: the file cannot be registered; nothing of it was saved\n$/);
});

test("a second server on the same home folder is one clear line and exit code 1", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const io = capturedIo({ cwd: dev.cwd });
  expect(await runCli(["start", "server", "--port", "0"], io)).toBe(1);
  expect(io.complained()).toMatch(/^error: another server runs on .*server\.lock; .*\n$/);
});
