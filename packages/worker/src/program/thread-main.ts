/** The program of a runner thread. */
import { parentPort, workerData } from "node:worker_threads";
import { CULPRIT, ENTERED, type ThreadData } from "../runners/thread-data.ts";
import { startRunnerProgram } from "./runner-program.ts";

const { folder, memoryMb, marks } = workerData as ThreadData;
const port = parentPort;
if (!port) throw new Error("this program is started as a thread of a worker");

port.on(
  "message",
  startRunnerProgram({
    folder,
    memoryMb,
    send: (messages) => port.postMessage(messages),
    // A message would come too late.
    entered: (copy) => Atomics.store(marks, ENTERED, copy),
    ended: (copy) => Atomics.store(marks, CULPRIT, copy),
  }),
);
