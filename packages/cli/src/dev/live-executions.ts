/** Executions that `engine dev` tries a fresh version on: they run on other versions. */
import { type ExecutionSummary, isTerminal, State } from "@engine/contract";
import type { WorkflowRef } from "../arguments/workflow-ref.ts";
import type { ServerCall } from "../server-call.ts";

const LIVE = State.options.filter((state) => !isTerminal(state));
const PER_PAGE = 200;
/** A burst of executions of the new version may stand before the executions of earlier versions. */
const MAX_PAGES = 10;

export interface LiveExecutions {
  /** The newest first. */
  readonly executions: readonly ExecutionSummary[];
  /** How many there are beyond them. */
  readonly leftOut: number;
}

/** Executions that have not ended and run on other versions than this one. */
export async function liveOnOtherVersions(
  client: ServerCall["client"],
  ref: WorkflowRef,
  { version, limit }: { readonly version: number; readonly limit: number },
): Promise<LiveExecutions> {
  const list = (query: { version?: number; limit: number; offset?: number }) =>
    client.executions.listOfWorkflow({ params: { ...ref }, query: { state: LIVE, ...query } });
  const found: ExecutionSummary[] = [];
  let total = 0;
  for (let page = 0; page < MAX_PAGES && found.length < limit; page++) {
    const answer = await list({ limit: PER_PAGE, offset: page * PER_PAGE });
    total = answer.total;
    found.push(...answer.items.filter((one) => one.version !== version));
    if (answer.items.length < PER_PAGE) break;
  }
  const executions = found.slice(0, limit);
  if (total <= PER_PAGE) return { executions, leftOut: found.length - executions.length };
  const { total: onThis } = await list({ version, limit: 1 });
  return { executions, leftOut: Math.max(0, total - onThis - executions.length) };
}
