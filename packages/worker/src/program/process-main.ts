/** The program of a runner process. */
import type { ToRunner } from "../runners/messages.ts";
import { watchParent } from "./orphan-watch.ts";
import { startRunnerProgram } from "./runner-program.ts";

// Code of users may take them for its own and change them.
const { pid, ppid } = process;
const send = process.send?.bind(process);
const [folder, memoryMb] = process.argv.slice(2);
if (!send || folder === undefined || memoryMb === undefined)
  throw new Error("this program is started by a worker");

// The worker is gone, whatever became of it; nothing that was started here outlives it.
process.once("disconnect", () => process.kill(-pid, "SIGKILL"));

const receive = startRunnerProgram({
  folder,
  memoryMb: Number(memoryMb),
  send: (messages) => void send(messages, undefined, undefined, () => {}),
  // It runs one copy at most.
  entered: () => {},
  ended: () => {},
});
process.on("message", (messages: ToRunner[]) => receive(messages));
watchParent(ppid);
