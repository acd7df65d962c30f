import { setTimeout as sleep } from "node:timers/promises";
import { type ExecutionRecord, isOutcome } from "@engine/contract";
import type { EngineAccess } from "../harness/engine-access.ts";
import { until } from "../harness/until.ts";
import type { Acknowledged } from "../kill/ledger-load.ts";

/** What one chain adds to its value, and how many tasks it takes for that. */
const LINKS = 6;

interface Chains {
  readonly count: number;
  /** Where their bodies write a line each. */
  readonly file: string;
  /** Of each body. */
  readonly ms: number;
  /** They are given to these in turn. */
  readonly workers: readonly string[];
}

/** Starts chains one after the other, so that each is somewhere else when something happens. */
export async function startChains(
  engine: EngineAccess,
  { count, file, ms, workers }: Chains,
): Promise<Acknowledged[]> {
  const started: Acknowledged[] = [];
  for (let value = 0; value < count; value++) {
    const worker = workers[value % workers.length] ?? "";
    const { status, body } = await engine.http.post<ExecutionRecord>(
      "/workflows/chain/run/async",
      { file, value, ms },
      { "x-engine-preferred-worker": worker },
    );
    if (status !== 202) throw new Error(`a chain was not started: ${status}`);
    started.push({ execution_id: body.execution_id, expected: value + LINKS });
    await sleep(ms / count);
  }
  return started;
}

/** Every one of them has recorded something, so that a replay has something to skip. */
export async function untilUnderWay(
  { http }: EngineAccess,
  chains: readonly Acknowledged[],
): Promise<void> {
  for (const { execution_id } of chains) {
    const hasOutcome = async () => (await http.log(execution_id)).some((e) => isOutcome(e.type));
    await until(`${execution_id} has recorded an outcome`, hasOutcome);
  }
}
