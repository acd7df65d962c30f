/** Replays of logs on the code that made them, for the judges that compare the two. */
import { type Encoded, encode, toHistory } from "@engine/contract";
import { type ReplayVerdict, replayHistory } from "@engine/sdk/node";
import type { Evidence, ExecutionAtRest } from "../evidence.ts";
import {
  countedProgram,
  guest,
  guidingProgram,
  heavyProgram,
  hiddenProgram,
  hookedParent,
  hookedProgram,
  jointProgram,
  keyedProgram,
  labelledProgram,
  limitedProgram,
  placedProgram,
  program,
  seatedProgram,
  sharedProgram,
  strictProgram,
} from "../programs/interpreter.ts";
import {
  installProgramPort,
  type ProgramPort,
  type Sight,
  type Telling,
} from "../programs/program-port.ts";
import { onUncaught } from "../uncaught.ts";

const WORKFLOWS = [
  ...[program, limitedProgram, heavyProgram, guest],
  ...[countedProgram, seatedProgram, hookedProgram, hookedParent],
  ...[keyedProgram, sharedProgram, jointProgram, strictProgram],
  ...[placedProgram, labelledProgram, hiddenProgram, guidingProgram],
];

export interface SightEncoded {
  readonly kind: Sight["kind"];
  readonly path: string;
  readonly value: Encoded;
}

export interface Replay {
  /** Why the log does not replay. */
  readonly problem: string | undefined;
  /** What the code got, in the order in which it got it. */
  readonly sights: readonly SightEncoded[];
  /** What the code told the tasks that it called. */
  readonly tellings: readonly Telling[];
}

/** The whole log of each execution whose code has run, by its id. */
export type Replays = ReadonlyMap<string, Replay>;

/**
 * Nothing may run any more: a replay takes the global that programs report to for itself.
 *
 * @param length Of the part of the log that is replayed.
 */
export async function replay(
  { row, log }: ExecutionAtRest,
  length: number,
  { stored }: Evidence,
): Promise<Replay> {
  const seen = { sights: [] as SightEncoded[], tellings: [] as Telling[] };
  const workflow = WORKFLOWS.find(({ name }) => name === row.workflow);
  if (!workflow) return { problem: `there is no workflow ${row.workflow}`, ...seen };
  const entered: string[] = [];
  const remove = installProgramPort(watching(seen, entered));
  // Whoever waits for the verdict would wait for ever.
  const broken = Promise.withResolvers<ReplayVerdict>();
  const stopListening = onUncaught((reason) => broken.resolve({ result: "unverifiable", reason }));
  try {
    // Of its own: should code come by what the evidence holds, it would change that.
    const copied = structuredClone(toHistory(row, log.slice(0, length)));
    // Code was told the markers that it holds: of failures of sensitive tasks nothing else is kept.
    const history = { ...copied, masked: 0 };
    const loadValue = async ({ reference_id }: { reference_id: string }) => {
      const kept = stored[reference_id];
      if (kept === undefined) throw new Error(`value ${reference_id} is not kept`);
      return kept;
    };
    const replaying = replayHistory(workflow, history, { services: { loadValue } });
    const verdict = await Promise.race([replaying, broken.promise]);
    // What a body does behind its last call may come a moment after the verdict.
    await new Promise((then) => setImmediate(then));
    if (entered[0] !== undefined) return { problem: `it ran ${entered[0]}`, ...seen };
    if (verdict.result === "ok") return { problem: undefined, ...seen };
    const problem = verdict.result === "diverged" ? verdict.failure.message : verdict.reason;
    return { problem, ...seen };
  } finally {
    stopListening();
    remove();
  }
}

function watching(
  { sights, tellings }: { sights: SightEncoded[]; tellings: Telling[] },
  entered: string[],
): ProgramPort {
  return {
    enter({ part, task_call_id }) {
      entered.push(`${part} of ${task_call_id}`);
      return { wait: () => new Promise(() => {}), returned() {}, threw() {} };
    },
    saw: ({ kind, path, value }) => sights.push({ kind, path, value: encode(value, "value") }),
    tells: (telling) => void tellings.push(telling),
  };
}

/** Replays the whole log of every execution. What it ended as is in it, whoever made that end. */
export async function replaysOf(evidence: Evidence): Promise<Replays> {
  const replays = new Map<string, Replay>();
  for (const execution of evidence.executions) {
    const { row, log } = execution;
    // Code that never ran has nothing to say.
    if (row.started_at === null) continue;
    replays.set(row.execution_id, await replay(execution, log.length, evidence));
  }
  return replays;
}
