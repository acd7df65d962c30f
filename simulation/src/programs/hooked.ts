/** The programs of workflows that have none in their input, said once more and by hand. */
import { GUEST } from "./guest-source.ts";
import { type Program, type ProgramInput, ROOT_PATH, type Step } from "./program.ts";

/** What hooks may start, as `author/hooked.ts` has it; guests are started, too. */
export const HOOKED_WORKFLOWS = ["hooked_program", "hooked_parent"] as const;

const STEP: Step = {
  ...{ kind: "step", task: "plain", fails: 0, takes_ms: 20, nested: 0, progress: 0 },
  ...{ flavour: "text", deaf: false },
};

const PROGRAMS: Readonly<Record<string, Program>> = {
  hooked_program: STEP,
  hooked_parent: { kind: "child", part: STEP },
  [GUEST]: { kind: "sequence", parts: [] },
};

/** Undefined: the input says it. */
export function ownProgram(workflow: string): ProgramInput | undefined {
  const program = PROGRAMS[workflow];
  return program && { program, path: ROOT_PATH };
}
