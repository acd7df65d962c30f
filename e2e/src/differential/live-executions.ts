import type { ExecutionSummary } from "@engine/contract";
import type { Http } from "../harness/http.ts";

const LIVE = ["CREATED", "CLAIMED", "RUNNING", "PAUSED", "RESUMING", "CANCELLING"];
const STATES = LIVE.map((state) => `state=${state}`).join("&");
const PAGE = 200;

/** All that have not ended, oldest first. */
export async function liveExecutions(http: Http): Promise<readonly ExecutionSummary[]> {
  const found: ExecutionSummary[] = [];
  for (;;) {
    const query = `${STATES}&order=created_asc&limit=${PAGE}&offset=${found.length}`;
    const { status, body } = await http.get<{ items: ExecutionSummary[] }>(`/executions?${query}`);
    if (status !== 200) throw new Error(`the list was refused: ${status} ${JSON.stringify(body)}`);
    found.push(...body.items);
    if (body.items.length < PAGE) return found;
  }
}
