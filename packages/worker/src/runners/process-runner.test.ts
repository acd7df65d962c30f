import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker } from "../testing/test-worker.ts";
import { until } from "../testing/until.ts";

const PROCESSES = { runners: ["thread", "process"], default_runner: "process" };

/** `first(file, begin)`: only the first process that comes here begins; it leaves its pid in the file. */
const FIRST = `
import { existsSync, renameSync, writeFileSync } from "node:fs";
async function first(file, begin) {
  if (existsSync(file)) return "again";
  const pids = await begin();
  writeFileSync(file + ".draft", JSON.stringify([process.pid, ...pids]));
  renameSync(file + ".draft", file);
  return new Promise(() => { setInterval(() => {}, 1000); });
}
`;

const HANGS = `
import { task, workflow } from "@engine/sdk";
${FIRST}
const hang = task({ name: "hang" }, (file) => first(file, async () => []));
export const hangs = workflow({ name: "hangs" }, async (file) => hang(file));
export const quick = workflow({ name: "quick" }, async () => process.pid);
`;

function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "engine-process-runner-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "pids");
}

async function pidsIn(file: string): Promise<[number, ...number[]]> {
  await until(() => existsSync(file));
  return JSON.parse(readFileSync(file, "utf8")) as [number, ...number[]];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("RUN-1 each execution runs in a process of its own, one workflow's choice before the worker's default", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, PROCESSES);
  const hash = server.addModule(HANGS);
  const ids = [server.start("quick", hash), server.start("quick", hash)];
  const onThread = server.start("quick", hash, { runner: "thread" });
  const rows = await Promise.all([...ids, onThread].map((id) => server.finished(id)));

  const [one, two, thread] = rows.map(({ output }) => output);
  expect(thread).toBe(process.pid);
  expect(new Set([one, two, process.pid]).size).toBe(3);
});

test("RUN-1 a workflow that asks for a process gets one on a worker whose default is a thread", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  const id = server.start("quick", server.addModule(HANGS), { runner: "process" });
  expect((await server.finished(id)).output).not.toBe(process.pid);
});

test("RUN-1 an execution for a runner that this worker does not have goes back to the queue", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, { runners: ["thread"] });
  const id = server.start("quick", server.addModule(HANGS), { runner: "process" });
  await server.until(() => server.releases.length > 0);
  expect(server.releases[0]).toMatchObject({ execution_id: id, reason: "runner_lost" });
  expect(worker.lines.join("\n")).toContain("a runner that this worker does not have");
});

test.each(["thread", "process"] as const)(
  "AUTH-55 code of a runner %s sees where scripted models log, no other variable of the engine and none that is denied",
  async (kind) => {
    vi.stubEnv("ENGINE_WORKERS__JOIN_TOKEN", "secret");
    vi.stubEnv("ENGINE_SECURITY__ENCRYPTION_KEY", "secret");
    vi.stubEnv("engine_auth_token", "secret");
    vi.stubEnv("ENGINE_SCRIPTED_LOG", "/tmp/scripted.log");
    vi.stubEnv("DENIED", "secret");
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = new FakeServer();
    await using _worker = await startTestWorker(server, {
      ...PROCESSES,
      env_allow: ["DENIED"],
      env_deny: ["DENIED"],
    });
    const hash = server.addModule(`
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { task, workflow } from "@engine/sdk";
const print = "process.stdout.write(JSON.stringify(process.env))";
const look = task({ name: "look" }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", print]);
  return [{ ...process.env }, JSON.parse(stdout)];
});
export const looks = workflow({ name: "looks" }, async () => look());
`);
    const { output } = await server.finished(server.start("looks", hash, { runner: kind }));
    for (const seen of output as object[]) {
      expect(Object.keys(seen).filter((name) => /^ENGINE_|^DENIED$/i.test(name))).toEqual([
        "ENGINE_SCRIPTED_LOG",
      ]);
    }
  },
);

test("AUTH-55 RUN-1 a process gets none of the worker's environment but what it needs and is allowed", async () => {
  vi.stubEnv("ENGINE_WORKERS__JOIN_TOKEN", "secret");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("LC_TIME", "C");
  vi.stubEnv("MODEL_CACHE", "/models");
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, {
    ...PROCESSES,
    env_allow: ["MODEL_CACHE", "ENGINE_WORKERS__JOIN_TOKEN"],
  });
  const hash = server.addModule(`
import { task, workflow } from "@engine/sdk";
const look = task({ name: "look" }, async () => ({ ...process.env }));
export const looks = workflow({ name: "looks" }, async () => look());
`);
  const { output } = await server.finished(server.start("looks", hash));
  const seen = Object.keys(output as object);
  expect(seen).toEqual(expect.arrayContaining(["PATH", "LC_TIME", "MODEL_CACHE"]));
  const isExpected = /^(PATH|HOME|LANG|LC_.*|TZ|TMPDIR|MODEL_CACHE)$/;
  expect(seen.filter((name) => !isExpected.test(name))).toEqual([]);
});

test("RUN-2 a process that is killed loses its own execution and no other, and it runs again", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, PROCESSES);
  const hash = server.addModule(HANGS);
  const [one, two] = [freshFile(), freshFile()];
  const lost = server.start("hangs", hash, { input: one });
  const other = server.start("hangs", hash, { input: two });
  const [[pid], [otherPid]] = await Promise.all([pidsIn(one), pidsIn(two)]);
  process.kill(pid, "SIGKILL");

  expect(await server.finished(lost)).toMatchObject({ output: "again", generation: 2 });
  expect(server.releases).toMatchObject([{ execution_id: lost, reason: "runner_lost" }]);
  expect(server.row(other)).toMatchObject({ state: "RUNNING", generation: 1 });
  expect(isAlive(otherPid)).toBe(true);
  expect(worker.lines.join("\n")).toContain("it was ended by SIGKILL");
});

test("RUN-2 a process that needs more memory than its workflow may have is ended, the worker goes on", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, PROCESSES);
  const hash = server.addModule(`
import { task, workflow } from "@engine/sdk";
${FIRST}
const fill = task({ name: "fill" }, async (file) => {
  const all = [];
  const grow = () => { for (;;) all.push(new Array(1000).fill(all.length)); };
  return first(file, async () => { setTimeout(grow, 10); return []; });
});
export const fills = workflow({ name: "fills" }, async (file) => fill(file));
`);
  const id = server.start("fills", hash, {
    input: freshFile(),
    runner_options: { memory_mb: 32 },
  });
  expect(await server.finished(id)).toMatchObject({ output: "again", generation: 2 });
  expect(server.releases).toMatchObject([{ execution_id: id, reason: "runner_lost" }]);
  expect(worker.lines.join("\n")).toContain("it needed more memory than 32 MB");
}, 60_000);

test("RUN-1 what a process has started ends with its execution, also what does not want to", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, { ...PROCESSES, kill_grace: 0.3 });
  const file = freshFile();
  const hash = server.addModule(`
import { spawn } from "node:child_process";
import { once } from "node:events";
import { task, workflow } from "@engine/sdk";
${FIRST}
const stubborn = 'process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000);';
const begin = task({ name: "begin" }, (file) => first(file, async () => {
  const child = spawn(process.execPath, ["-e", stubborn], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return [child.pid];
}));
export const begins = workflow({ name: "begins" }, async (file) => begin(file));
`);
  const id = server.start("begins", hash, { input: file });
  const pids = await pidsIn(file);
  expect(pids.map(isAlive)).toEqual([true, true]);
  process.kill(pids[0], "SIGKILL");
  expect(await server.finished(id)).toMatchObject({ output: "again" });
  await until(() => !pids.some(isAlive));
});

test("RUN-1 what code in a process prints is in the worker's log, with its execution", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, PROCESSES);
  const hash = server.addModule(`
import { workflow } from "@engine/sdk";
export const says = workflow({ name: "says" }, async () => {
  console.log("one\\ntwo");
  console.error("trouble");
});
`);
  const id = server.start("says", hash);
  await server.finished(id);
  await worker.stop();
  const { lines } = worker;
  expect(lines).toContain(`info one ${JSON.stringify({ execution_id: id, stream: "stdout" })}`);
  expect(lines).toContain(`info two ${JSON.stringify({ execution_id: id, stream: "stdout" })}`);
  expect(lines).toContain(`warn trouble ${JSON.stringify({ execution_id: id, stream: "stderr" })}`);
});

test("RUN-4 an execution that waits keeps no process; another one takes it up by a replay", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, PROCESSES);
  const hash = server.addModule(`
import { pause, task, workflow } from "@engine/sdk";
const pid = task({ name: "pid" }, async () => process.pid);
export const asks = workflow({ name: "asks" }, async () => [await pid(), await pause("ok"), process.pid]);
`);
  const id = server.start("asks", hash);
  await server.until(() => server.row(id).state === "PAUSED");
  const { value } = server.log(id).find(({ type }) => type === "TASK_COMPLETED") ?? {};
  await until(() => !isAlive(value as number));
  expect(worker.status()).toEqual({ running: 0, warm: 0 });
  server.resume(id, "yes");
  const { output } = await server.finished(id);
  const [before, answer, after] = output as [number, string, number];
  expect([before, answer]).toEqual([value, "yes"]);
  expect(after).not.toBe(before);
});

test("DSP-9 a task that ignores its cancel is abandoned after cancel_grace, and its process killed", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, { ...PROCESSES, cancel_grace: 0.2 });
  const file = freshFile();
  const id = server.start("hangs", server.addModule(HANGS), { input: file });
  const [pid] = await pidsIn(file);
  const from = performance.now();
  server.cancel(id);
  expect(await server.finished(id)).toMatchObject({ state: "CANCELLED" });
  expect(performance.now() - from).toBeGreaterThanOrEqual(200);
  await until(() => !isAlive(pid));
});

test("RUN-1 a worker that stops leaves no process behind", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, PROCESSES);
  const file = freshFile();
  server.start("hangs", server.addModule(HANGS), { input: file });
  const [pid] = await pidsIn(file);
  await worker.stop({ abort: true });
  // Such a stop does not wait for long until the system has buried it.
  await until(() => !isAlive(pid));
});

test("RUN-1 a process whose worker was killed ends too, even while its code blocks it", async () => {
  const file = freshFile();
  const program = fileURLToPath(new URL("../testing/blocked-process.ts", import.meta.url));
  const worker = spawn(process.execPath, ["--conditions=@engine/source", program, file]);
  const [pid] = await pidsIn(file);
  worker.kill("SIGKILL");
  await once(worker, "exit");
  await until(() => !isAlive(pid));
}, 60_000);
