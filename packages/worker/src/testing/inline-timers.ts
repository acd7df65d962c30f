/**
 * A program for the test of the inline runner: says what a timer is that is started by a body, and
 * by everything that the worker does on its behalf.
 */
import { FakeServer } from "./fake-server.ts";
import { startTestWorker } from "./test-worker.ts";

const server = new FakeServer();
server.limits = { ...server.limits, inline_value_bytes: 1024 };
const timers = new Map<string, Set<string>>();

function note(what: string): void {
  const timer = setTimeout(() => {}, 0);
  clearTimeout(timer);
  timers.set(what, (timers.get(what) ?? new Set()).add(timer.constructor.name));
}

const worker = await startTestWorker(
  server,
  { runners: ["inline"], default_runner: "inline" },
  {
    values: {
      secrets: () => Promise.resolve({ KEY: "k" }),
      configs: () => {
        note("configs");
        return Promise.resolve({ region: "eu" });
      },
    },
  },
);
// What the worker's log does is the doing of the code that logs.
const push = worker.lines.push.bind(worker.lines);
worker.lines.push = (line) => {
  if (line.startsWith("warn")) note("log");
  return push(line);
};
server.before = (call) => note(call);

const id = server.start(
  "here",
  server.addModule(`
import { getConfig, progress, task, workflow } from "@engine/sdk";
const speak = task({ name: "speak" }, async (length) => {
  progress(1);
  progress(() => "nothing that can be sent");
  return "x".repeat(length);
});
export const here = workflow({ name: "here" }, async () => {
  const timer = setTimeout(() => {}, 60_000);
  clearTimeout(timer);
  performance.now();
  progress("of the body");
  await speak(5000);
  await Promise.all([speak(1), getConfig("region")]);
  return timer.constructor.name;
});
`),
  { watched: true },
);
const { state, output } = await server.finished(id);
await worker.stop();
const seen = Object.fromEntries([...timers].map(([what, names]) => [what, [...names]]));
process.stdout.write(JSON.stringify({ state, output, seen }));
