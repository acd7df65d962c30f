import { isOutcome } from "@engine/contract";
import type { EngineAccess } from "../harness/engine-access.ts";
import { listExecutions } from "./all-executions.ts";
import { readBodyRuns } from "./body-lines.ts";
import type { Acknowledged } from "./ledger-load.ts";
import type { Sent } from "./payer.ts";
import { bodyViolations, callsOf, type Kill, logViolations, wasLost } from "./violations.ts";
import { familyViolations, outcomeViolations, waitViolations } from "./wait-violations.ts";

/** Bodies that an execution of each workflow runs; those of its children are their own. */
const BODIES = new Map([
  ["chain", 6],
  ["fan", 6],
  ["errand", 2],
]);

interface Evidence {
  readonly acknowledged: readonly Acknowledged[];
  /** Signals, by execution. */
  readonly sent?: ReadonlyMap<string, Sent>;
  /** Where the bodies wrote their lines. */
  readonly file: string;
  readonly kills: readonly Kill[];
}

export interface Verdict {
  /** Empty when everything is as it must be. */
  readonly violations: readonly string[];
  readonly executions: number;
  readonly bodies: number;
  /** Runs of bodies beyond the first. */
  readonly extraRuns: number;
  /** Bodies that were under way in a process when it was killed. */
  readonly openAtKills: number;
  readonly children: number;
  readonly signals: number;
}

/** Judges what the ledger's workflows did after all have ended, whatever was killed on the way. */
export async function ledgerVerdict(
  engine: EngineAccess,
  { acknowledged, sent = new Map(), file, kills }: Evidence,
): Promise<Verdict> {
  const violations: string[] = [];
  for (const { execution_id, expected } of acknowledged) {
    const { state, output } = await engine.http.execution(execution_id);
    if (state !== "COMPLETED" || output !== expected) {
      violations.push(`${execution_id}: ${state}, output ${output}, expected ${expected}`);
    }
  }

  const executions = await listExecutions(engine);
  const bodies = await readBodyRuns(file);
  const known = new Set(executions.map(({ execution_id }) => execution_id));
  for (const id of bodies.keys()) if (!known.has(id)) violations.push(`${id} ran, nobody knows it`);
  violations.push(...familyViolations(executions));
  const found = { bodies: 0, extraRuns: 0, openAtKills: 0, children: 0, signals: 0 };
  for (const { execution_id, state, workflow, parent_id } of executions) {
    if (state !== "COMPLETED") violations.push(`${execution_id} is ${state}`);
    const log = await engine.http.log(execution_id);
    const signals = sent.get(execution_id);
    const wrongs = [...logViolations(log), ...waitViolations(log, signals)];
    violations.push(...wrongs.map((wrong) => `${execution_id}: ${wrong}`));
    found.signals += signals?.acknowledged ?? 0;
    if (parent_id !== null) {
      found.children++;
      const { output } = await engine.http.execution(execution_id);
      const wrong = outcomeViolations(await engine.http.log(parent_id), output);
      violations.push(...wrong.map((what) => `${parent_id}: ${what}`));
    }
    const calls = callsOf(log);
    for (const [call, runs] of bodies.get(execution_id) ?? []) {
      const outcome = calls.get(call)?.find((event) => isOutcome(event.type));
      const wrong = bodyViolations(runs, outcome, kills);
      violations.push(...wrong.map((what) => `${execution_id} ${call}: ${what}`));
      found.bodies += runs.length;
      found.extraRuns += runs.length - 1;
      if (outcome) found.openAtKills += kills.filter((k) => wasLost(k, runs, outcome)).length;
    }
    const ran = bodies.get(execution_id)?.size;
    const expected = BODIES.get(workflow);
    if (ran !== expected) violations.push(`${execution_id}: ${ran} of ${expected} bodies ran`);
  }
  if (found.extraRuns > found.openAtKills) {
    violations.push(`${found.extraRuns} extra runs, ${found.openAtKills} bodies were open`);
  }
  return { violations, executions: executions.length, ...found };
}
