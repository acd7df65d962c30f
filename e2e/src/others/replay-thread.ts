/** Replays histories that it is sent, one at a time, against the programs as they are now. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import type { History } from "@engine/contract";
import { type AnyWorkflow, isWorkflow } from "@engine/sdk";
import { nodeHost, replayHistory } from "@engine/sdk/node";

/** Folder of values that are kept outside of the log. */
const values = String(workerData);

const host = nodeHost();
// After the host, which replaces the globals that a file may take when it is loaded.
const file: Readonly<Record<string, unknown>> = await import("./programs/all.ts");
const workflows = new Map<string, AnyWorkflow>();
for (const value of Object.values(file)) if (isWorkflow(value)) workflows.set(value.name, value);

// What a body leaves behind is nobody's, as in a worker.
process.on("unhandledRejection", () => {});

parentPort?.on("message", (history: History) => {
  void wrongIn(history).then((wrong) => parentPort?.postMessage(wrong));
});

async function wrongIn(history: History): Promise<readonly string[]> {
  const { workflow } = history.execution;
  const code = workflows.get(workflow);
  if (!code) return [`no workflow ${workflow} to replay it on`];
  const loadValue = ({ reference_id }: { readonly reference_id: string }) =>
    readFile(join(values, reference_id), "utf8");
  const verdict = await replayHistory(code, history, { host, services: { loadValue } });
  if (verdict.result === "ok") return [];
  const why = verdict.result === "diverged" ? verdict.failure.message : verdict.reason;
  return [`its replay is ${verdict.result}: ${why}`];
}
