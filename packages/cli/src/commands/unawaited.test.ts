import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { startDev } from "../started-dev.ts";
import { temporaryFolder } from "../temporary-folder.ts";

// Real processes start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const BIN = fileURLToPath(new URL("../../bin/engine.js", import.meta.url));

const FLOWS = `
import { signal, task, workflow } from "@engine/sdk";
const echo = task({ name: "echo" }, async (value: string) => value);
export const late = workflow({ name: "late" }, async () => {
  const first = echo("a");
  const second = (async () => {
    await Promise.resolve();
    throw new Error("nobody looked");
  })();
  await first;
  return second.catch((error: Error) => "caught: " + error.message);
});
export const refused = workflow({ name: "refused" }, async () => {
  void signal("not a name");
  return echo("fine");
});
`;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function engine(args: readonly string[], cwd: string, url = ""): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { PATH: process.env["PATH"], ...(url && { ENGINE_SERVER_URL: url }) };
    execFile(process.execPath, [BIN, ...args], { cwd, env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

test("EXE-12 exec goes on where a promise is rejected before anybody awaits it, as a worker does", async () => {
  const folder = temporaryFolder({ "flows.ts": FLOWS });
  onTestFinished(() => folder.remove());
  const late = await engine(["exec", "flows.ts", "late"], folder.path);
  expect(late).toMatchObject({ code: 0, out: '"caught: nobody looked"\n' });
  expect(late.err).toContain("a promise was rejected while nobody awaited it: nobody looked");
  const refused = await engine(["exec", "flows.ts", "refused"], folder.path);
  expect(refused).toEqual({ code: 0, out: '"fine"\n', err: "" });
});

test("EXE-95 workflow replay tells of all executions, also of those with such a promise", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  await dev.engine("workflow", "run", "late", "--mode", "sync");
  await dev.engine("workflow", "run", "late", "--mode", "sync");
  const replayed = await engine(["workflow", "replay", "late"], dev.cwd, dev.url);
  expect(replayed).toEqual({
    code: 0,
    err: "",
    out: expect.stringContaining("2 executions replayed: 2 ok"),
  });
});
