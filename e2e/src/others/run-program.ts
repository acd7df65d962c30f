import type { ExecutionRecord } from "@engine/contract";
import { MODE_FACTS } from "./modes.ts";
import { OutsideOverHttp } from "./outside-over-http.ts";
import type { Program } from "./program.ts";
import type { Stage } from "./stage.ts";

/** One run of a program, from its start until all that was started for it had ended. */
export interface Run {
  readonly name: string;
  readonly program: Program;
  /** Executions that were started from outside; the first is the program's own. */
  readonly roots: readonly string[];
  readonly tookMs: number;
  /** What kept it from coming to an end. */
  readonly broken?: string;
}

export async function runProgram(stage: Stage, name: string, program: Program): Promise<Run> {
  const { workflow = name, input, drive } = program;
  const { limitMs } = MODE_FACTS[stage.mode];
  const began = performance.now();
  const took = () => ({ name, program, tookMs: performance.now() - began });
  // Others may register further versions meanwhile.
  const path = `/workflows/default/${workflow}/run/async?version=1`;
  const answer = await stage.engine.http.post<ExecutionRecord>(path, input ?? null);
  if (answer.status !== 202) {
    const broken = `it was not started: ${answer.status} ${JSON.stringify(answer.body)}`;
    return { ...took(), roots: [], broken };
  }
  const { execution_id: id } = answer.body;
  const outside = new OutsideOverHttp({ id, workflow, stage, limitMs });
  const { roots } = outside;
  try {
    // What is to happen may come too late, or never: its end counts all the same.
    const driven = drive?.(outside);
    driven?.catch(() => {});
    await outside.untilEnded();
    await driven;
    for (const root of roots) await outside.untilEnded(root);
    return { ...took(), roots };
  } catch (error) {
    return { ...took(), roots, broken: String(error) };
  }
}
