/** The program of a runner thread. */
import { parentPort, workerData } from "node:worker_threads";
import { startRunnerProgram } from "./runner-program.ts";
import type { ThreadData } from "./thread-data.ts";

const { folder, entered } = workerData as ThreadData;
const port = parentPort;
if (!port) throw new Error("this program is started as a thread of a worker");

port.on(
  "message",
  startRunnerProgram({
    folder,
    send: (messages) => port.postMessage(messages),
    // Read by the main thread while this one is blocked, so a message would come too late.
    entered: (copy) => Atomics.store(entered, 0, copy),
  }),
);
