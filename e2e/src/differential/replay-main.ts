/**
 * The process in which logs are replayed: with the code of the file, and nothing of the engine that
 * made them but what replays. One that makes it die says so by that.
 */
import type { History } from "@engine/contract";
import { nodeHost, replayHistory } from "@engine/sdk/node";
import type { Told } from "@engine/simulation/program";
import { installProgramPort, type ProgramPort } from "@engine/simulation/program-port";
import type { ReplaySeen } from "./evidence.ts";
import { loadStored } from "./stored-values.ts";

// Before the code of the file is loaded, as everything that runs such code has to.
nodeHost();
const { limitedProgram, program, zodProgram } = await import("@engine/simulation/real-programs");
const WORKFLOWS = [program, limitedProgram, zodProgram];
const [values = ""] = process.argv.slice(2);

const told = new Map<string, Told>();
const port: ProgramPort = {
  enter: ({ part, task_call_id }) => {
    throw new Error(`a replay entered ${part} of ${task_call_id}`);
  },
  saw() {},
  tells: ({ path, told: what }) => void told.set(path, structuredClone(what)),
};
installProgramPort(port);

process.on("message", (history: History) => {
  void replay(history).then((seen) => process.send?.(seen));
});

async function replay(history: History): Promise<ReplaySeen> {
  told.clear();
  const { result, reason } = await verdictOf(history);
  // What a body does behind its last call may come a moment after the verdict.
  await new Promise((then) => setImmediate(then));
  return { result, reason, told: Object.fromEntries(told) };
}

async function verdictOf(history: History): Promise<Pick<ReplaySeen, "result" | "reason">> {
  const workflow = WORKFLOWS.find(({ name }) => name === history.execution.workflow);
  if (!workflow) return { result: "crashed", reason: `no ${history.execution.workflow} is known` };
  try {
    const loadValue = ({ reference_id }: { reference_id: string }) =>
      loadStored(values, reference_id);
    const verdict = await replayHistory(workflow, history, { services: { loadValue } });
    if (verdict.result === "ok") return { result: "ok", reason: "" };
    const reason = verdict.result === "diverged" ? verdict.failure.message : verdict.reason;
    return { result: verdict.result, reason };
  } catch (error) {
    return { result: "crashed", reason: String(error) };
  }
}
