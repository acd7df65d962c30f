/** A server and two workers as processes: where a run may go, where it goes, and why one waits. */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClient } from "@engine/client";
import type { transcription } from "./transcription.ts";

const engine = fileURLToPath(new URL("../../packages/cli/bin/engine.js", import.meta.url));
const file = fileURLToPath(new URL("./transcription.ts", import.meta.url));
const started: ChildProcess[] = [];

try {
  const server = start(["start", "server", "--port", "0"]);
  const [baseUrl] = await printed(server, /http:\/\/[\w.]+:\d+/);
  const env = { ...process.env, ENGINE_SERVER_URL: baseUrl };
  const command = async (...words: string[]) =>
    (await promisify(execFile)(process.execPath, [engine, ...words], { env })).stdout;

  await command("workflow", "register", file);
  for (const [name, region] of [
    ["lisbon", "eu"],
    ["boston", "us"],
  ] as const) {
    const words = ["start", "worker", name, "--label", `region=${region}`];
    await printed(start(words, env), /connected/);
  }
  const client = createClient({ baseUrl });
  const recordings = client.workflow<typeof transcription>("examples/transcription");

  const open = await recordings.start({ region: "us", customer: "ada" });
  assert.equal(await open.result(), "what ada said");
  const log = await command("execution", "events", open.executionId, "--format", "json");
  const claimed = JSON.parse(log).items.find(
    ({ type }: { type: string }) => type === "WORKFLOW_CLAIMED",
  );
  assert.equal(claimed.value.worker, "boston");

  // No worker was approved for what is restricted: the run waits, and says so.
  const restricted = await recordings.start({ region: "eu", customer: "ada", tier: "restricted" });
  const why = await command("why", restricted.executionId);
  assert.match(why, /lisbon lacks meta\("approved"\)\.eq\("true"\)/);

  await command("worker", "metadata", "set", "lisbon", "approved=true");
  assert.equal(await restricted.result(), "what ada said");

  const where = await command(
    "workflow",
    "placement",
    "examples/transcription",
    '{"region":"eu","customer":"bo"}',
  );
  assert.match(where, /lisbon/);
  console.log(why, where);
} finally {
  for (const one of started) one.kill();
  for (const one of started) if (one.exitCode === null) await once(one, "exit");
}

function start(words: readonly string[], env = process.env): ChildProcess {
  const one = spawn(process.execPath, [engine, ...words], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(one);
  return one;
}

/** What a process prints, as soon as it has. */
function printed(one: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = "";
    for (const stream of [one.stdout, one.stderr]) {
      stream?.on("data", (chunk) => {
        text += chunk;
        const found = pattern.exec(text);
        if (found) resolve(found);
      });
    }
    one.on("exit", () => reject(new Error(`it ended without ${pattern}: ${text}`)));
  });
}
