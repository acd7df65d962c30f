/** The program of a runner process. */
import { Worker } from "node:worker_threads";
import type { ToRunner } from "../runners/messages.ts";
import { startRunnerProgram } from "./runner-program.ts";

// Taken now: code of users may change them later.
const { pid, ppid } = process;
const send = process.send?.bind(process);
const [folder, memoryMb] = process.argv.slice(2);
if (!send || folder === undefined || memoryMb === undefined)
  throw new Error("this program is started by a worker");

// The worker is gone. Nothing that was started here outlives it.
process.once("disconnect", () => process.kill(-pid, "SIGKILL"));

const receive = startRunnerProgram({
  folder,
  memoryMb: Number(memoryMb),
  send: (messages) => void send(messages, undefined, undefined, () => {}),
  // A process runs one copy at most, so the worker knows which without being told.
  entered: () => {},
  ended: () => {},
});
process.on("message", (messages: ToRunner[]) => receive(messages));

// Ends the group when the worker is gone, on a thread of its own: code that blocks this one would
// keep it from noticing, and go on for ever.
const watch = `
  setInterval(() => {
    if (process.ppid !== ${ppid}) process.kill(-process.pid, "SIGKILL");
  }, 1000);
`;
new Worker(watch, { eval: true, execArgv: [], env: {} }).unref();
