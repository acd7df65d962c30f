import { type ExecutionSummary, isTerminal } from "@engine/contract";
import type { EngineAccess } from "../harness/engine-access.ts";
import { until } from "../harness/until.ts";

/** All that the server knows, oldest first. */
export async function listExecutions({ http }: EngineAccess): Promise<ExecutionSummary[]> {
  const found: ExecutionSummary[] = [];
  for (;;) {
    const { body } = await http.get<{ items: ExecutionSummary[]; total: number }>(
      `/executions?order=created_asc&limit=200&offset=${found.length}`,
    );
    found.push(...body.items);
    if (found.length >= body.total) return found;
  }
}

/** Rejects with the story of each execution that is still open by then. */
export async function untilAllEnded(engine: EngineAccess, limitMs: number): Promise<void> {
  const unfinished = async () => {
    return (await listExecutions(engine)).filter(({ state }) => !isTerminal(state));
  };
  try {
    const haveEnded = async () => (await unfinished()).length === 0;
    await until("every execution has ended", haveEnded, limitMs);
  } catch (error) {
    const left = await unfinished();
    const reports = await Promise.all(left.map((one) => story(engine, one)));
    const report = `still open:\n${reports.join("\n")}\n${engine.processReport()}`;
    throw new Error(report, { cause: error });
  }
}

/** Where an execution stands and how it came there, for the message of a failed test. */
async function story({ http }: EngineAccess, one: ExecutionSummary): Promise<string> {
  const { execution_id, workflow, state, worker, generation, waiting } = one;
  const head = [execution_id, workflow, state, worker, generation, JSON.stringify(waiting)];
  const log = await http.log(execution_id);
  const events = log.map(({ seq, type, source_id, recorded_at, value, meta }) =>
    [seq, recorded_at, type, source_id, JSON.stringify(value), JSON.stringify(meta)].join(" "),
  );
  return [head.join(" "), ...events].join("\n  ");
}
