/**
 * I7: every log, and every part of it that a crash could have left, replays on the code that made it:
 * with the same calls, the same values handed to the code in the same order, and the same output.
 */
import { isDeepStrictEqual } from "node:util";
import { type Encoded, encode, type Json, toHistory } from "@engine/contract";
import { replayHistory } from "@engine/sdk/node";
import type { Commit, Evidence, ExecutionAtRest } from "../evidence.ts";
import { heavyProgram, limitedProgram, program } from "../programs/interpreter.ts";
import { installProgramPort, type ProgramPort, type Sight } from "../programs/program-port.ts";
import { endedByEngine } from "./engine-ends.ts";
import { commitsByExecution, storedForm } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

const WORKFLOWS = [program, limitedProgram, heavyProgram];
/** Prefixes of each log that are tried: a log of 1,000 events would have as many. */
const MOST_CUTS = 6;

export async function replayedLogs(evidence: Evidence): Promise<readonly Violation[]> {
  const commits = commitsByExecution(evidence);
  const violations: Violation[] = [];
  for (const execution of evidence.executions) {
    const { execution_id } = execution.row;
    const messages = await replays(execution, commits.get(execution_id) ?? [], evidence);
    for (const message of messages) violations.push({ invariant: "I7", execution_id, message });
  }
  return violations;
}

async function replays(
  execution: ExecutionAtRest,
  commits: readonly Commit[],
  evidence: Evidence,
): Promise<readonly string[]> {
  const { row, log } = execution;
  // Code that never ran has nothing to say.
  if (row.started_at === null) return [];
  const byEngine = row.state === "CANCELLED" || endedByEngine(row);
  const whole = await replay(execution, byEngine ? log.length - 1 : log.length, evidence);
  if (whole.problem !== undefined) return [`its log does not replay: ${whole.problem}`];
  const messages: string[] = [];
  if (row.state === "COMPLETED") {
    const output = whole.sights.find(({ kind }) => kind === "output");
    if (!isDeepStrictEqual(output?.value, storedForm(row.output, evidence))) {
      messages.push(`its log replays to another output than it has: ${text(output?.value)}`);
    }
  }
  const began = log.find(({ event }) => event.type === "WORKFLOW_STARTED")?.event.seq ?? log.length;
  for (const cut of cutsOf(commits, { from: began, to: log.length })) {
    const part = await replay(execution, cut, evidence);
    if (part.problem !== undefined) {
      messages.push(`its log up to event ${cut} does not replay: ${part.problem}`);
      continue;
    }
    const differs = part.sights.findIndex((sight, i) => !isDeepStrictEqual(sight, whole.sights[i]));
    if (differs < 0) continue;
    messages.push(
      `replayed up to event ${cut}, value ${differs + 1} that the code gets is ${text(part.sights[differs])}; in the whole log it is ${text(whole.sights[differs])}`,
    );
  }
  return messages;
}

/** Ends of commits since its code began, spread over the log: inside of one no crash can cut. */
function cutsOf(
  commits: readonly Commit[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly number[] {
  const ends = commits.flatMap(({ events }) => events.at(-1)?.seq ?? []);
  const inside = ends.filter((seq) => seq >= from && seq < to);
  const step = Math.max(1, inside.length / MOST_CUTS);
  const picked = Array.from(
    { length: Math.min(MOST_CUTS, inside.length) },
    (_, i) => inside[Math.floor(i * step)],
  );
  return picked.filter((seq) => seq !== undefined);
}

interface SightEncoded {
  readonly kind: Sight["kind"];
  readonly path: string;
  readonly value: Encoded;
}

interface Replayed {
  readonly problem: string | undefined;
  /** What the code got, in the order in which it got it. */
  readonly sights: readonly SightEncoded[];
}

async function replay(
  { row, log }: ExecutionAtRest,
  length: number,
  { stored }: Evidence,
): Promise<Replayed> {
  const workflow = WORKFLOWS.find(({ name }) => name === row.workflow);
  if (!workflow) return { problem: `there is no workflow ${row.workflow}`, sights: [] };
  const sights: SightEncoded[] = [];
  const entered: string[] = [];
  const remove = installProgramPort(watching(sights, entered));
  try {
    const history = toHistory(row, log.slice(0, length));
    const loadValue = async ({ reference_id }: { reference_id: string }) => {
      const kept = stored[reference_id];
      if (kept === undefined) throw new Error(`value ${reference_id} is not kept`);
      return kept;
    };
    const verdict = await replayHistory(workflow, history, { services: { loadValue } });
    // What a body does behind its last call may come a moment after the verdict.
    await new Promise((then) => setImmediate(then));
    if (entered[0] !== undefined) return { problem: `it ran ${entered[0]}`, sights };
    if (verdict.result === "ok") return { problem: undefined, sights };
    const problem = verdict.result === "diverged" ? verdict.failure.message : verdict.reason;
    return { problem, sights };
  } finally {
    remove();
  }
}

function watching(sights: SightEncoded[], entered: string[]): ProgramPort {
  return {
    enter({ part, task_call_id }) {
      entered.push(`${part} of ${task_call_id}`);
      return { wait: () => new Promise(() => {}), returned() {}, threw() {} };
    },
    saw: ({ kind, path, value }) => sights.push({ kind, path, value: encode(value, "value") }),
  };
}

function text(value: SightEncoded | Json | undefined): string {
  return JSON.stringify(value)?.slice(0, 200) ?? "nothing";
}
