import { type ExecutionRecord, isOutcome, type RecordedEvent } from "@engine/contract";
import type { EngineAccess } from "../harness/engine-access.ts";
import { until } from "../harness/until.ts";
import { type BodyRun, readBodyRuns } from "../kill/body-lines.ts";
import { type Absence, bodyViolations, callsOf, logViolations } from "../kill/violations.ts";

export interface Witness {
  readonly id: string;
  readonly steps: number;
}

interface Given {
  readonly file: string;
  readonly steps: number;
  readonly ms: number;
  /** Asked first, when it is free. */
  readonly worker?: string;
}

/** Starts one of the executions whose every task records its process. */
export async function startWitness(
  { http }: EngineAccess,
  { worker, ...input }: Given,
): Promise<Witness> {
  const { status, body } = await http.post<ExecutionRecord>(
    "/workflows/witness/run/async",
    input,
    worker === undefined ? {} : { "x-engine-preferred-worker": worker },
  );
  if (status !== 202) throw new Error(`a witness was not started: ${status}`);
  return { id: body.execution_id, steps: input.steps };
}

/** That worker runs all of them, and each has recorded something. */
export async function untilUnderWayOn(
  { http }: EngineAccess,
  worker: string,
  witnesses: readonly Witness[],
): Promise<void> {
  for (const { id } of witnesses) {
    await until(`${id} has recorded an outcome on ${worker}`, async () => {
      const log = await http.log(id);
      return (
        (await http.execution(id)).worker === worker && log.some(({ type }) => isOutcome(type))
      );
    });
  }
}

/** The processes that gave outcomes, in the order in which those were recorded. */
export function signaturesOf(log: readonly RecordedEvent[]): number[] {
  const outcomes = log.filter(({ type }) => type === "TASK_COMPLETED");
  return outcomes.map(({ value }) => value as number);
}

/** What is wrong with executions that have ended; a body may run again after its process was lost. */
export async function witnessViolations(
  { http }: EngineAccess,
  witnesses: readonly Witness[],
  { file, losses }: { file: string; losses: readonly Absence[] },
): Promise<{ violations: string[]; extraRuns: number }> {
  const bodies = await readBodyRuns(file);
  const violations: string[] = [];
  let extraRuns = 0;
  for (const { id, steps } of witnesses) {
    const log = await http.log(id);
    const { state } = await http.execution(id);
    if (state !== "COMPLETED") violations.push(`${id} is ${state}`);
    violations.push(...logViolations(log).map((what) => `${id}: ${what}`));
    const calls = callsOf(log);
    const runs = bodies.get(id) ?? new Map<string, readonly BodyRun[]>();
    if (runs.size !== steps) violations.push(`${id}: ${runs.size} of ${steps} bodies ran`);
    for (const [call, ran] of runs) {
      const outcome = calls.get(call)?.find(({ type }) => isOutcome(type));
      const wrong = bodyViolations(ran, outcome, losses);
      violations.push(...wrong.map((what) => `${id} ${call}: ${what}`));
      extraRuns += ran.length - 1;
    }
  }
  return { violations, extraRuns };
}
