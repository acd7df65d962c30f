import type { Encoded, ExecutionSummary, History } from "@engine/contract";
import type { Http } from "../harness/http.ts";
import type { Death, Evidence, ExecutionSeen } from "./evidence.ts";
import type { Family } from "./family.ts";
import type { Replayer } from "./replayer.ts";
import { wholeValue } from "./stored-values.ts";
import { readTrace } from "./trace-file.ts";

export interface GatherParts {
  readonly http: Http;
  readonly replayer: Replayer;
  /** The folder of large values. */
  readonly values: string;
  readonly deaths: () => readonly Death[];
}

/** All that a program left: logs from the server, what they replay to, what its tasks wrote. */
export async function gather(
  family: Family,
  trace: string,
  { http, replayer, values, deaths }: GatherParts,
): Promise<Evidence> {
  const executions: ExecutionSeen[] = [];
  const left = [...family.members];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const { body: history } = await http.get<History>(`/executions/${id}/history`);
    const replay = await replayer.replay(history);
    const input = await wholeValue(values, history.execution.input as Encoded);
    const end = await wholeValue(values, history.events.at(-1)?.value as Encoded);
    executions.push({ execution_id: id, history, input, end, replay });
    if (!history.events.some(({ kind }) => kind === "call")) continue;
    const known = new Set([...left, ...executions.map(({ execution_id }) => execution_id)]);
    left.push(...(await childrenOf(http, id)).filter((child) => !known.has(child)));
  }
  const { plan, cancels, looks, stuck } = family;
  const entries = await readTrace(trace);
  return { plan, executions, entries, deaths: deaths(), cancels, looks, stuck };
}

async function childrenOf(http: Http, execution_id: string): Promise<readonly string[]> {
  const { body } = await http.get<{ items: ExecutionSummary[] }>(
    `/executions?parent_id=${execution_id}&limit=200`,
  );
  return body.items.map((child) => child.execution_id);
}
