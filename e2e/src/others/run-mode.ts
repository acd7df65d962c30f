import { drainUntil } from "./drainer.ts";
import { Judge, type Verdict } from "./judge.ts";
import { MODE_FACTS, type Mode } from "./modes.ts";
import type { Program } from "./program.ts";
import { divergedByCommand } from "./replay-command.ts";
import { Replayer } from "./replayer.ts";
import { type Run, runProgram } from "./run-program.ts";
import { PROGRAMS_FILE, Stage, type StoreKind } from "./stage.ts";
import { strikeUntil } from "./striker.ts";

export interface ModeOptions {
  readonly mode: Mode;
  readonly store: StoreKind;
  readonly programs: readonly (readonly [name: string, program: Program])[];
  /** Programs that run at the same time. */
  readonly together: number;
  /** With `killed` and `struck`: the notes at which processes die; each is a round of all programs. */
  readonly entries?: readonly number[];
  readonly say: (line: string) => void;
}

/** One program in one round of a mode. */
export interface Judged extends Verdict {
  readonly mode: Mode;
  /** At which note its process was killed. */
  readonly entry: number | undefined;
}

const KILLING: ReadonlySet<Mode> = new Set(["killed", "struck"]);
/** What dies at once takes its neighbours with it. */
const STRUCK_TOGETHER = 2;

function isFor(mode: Mode, { isCalm, isTouchy }: Program): boolean {
  if (mode === "struck") return isTouchy === true;
  return isCalm !== true || mode === "plain" || mode === "cold";
}

/** Runs programs in one mode and judges them; also what of the mode's own is wrong. */
export async function runMode(options: ModeOptions): Promise<readonly Judged[]> {
  const { mode, store, entries = [], say } = options;
  await using stage = await Stage.start(mode, store);
  await using replayer = new Replayer(stage.engine.home.file(".engine/values"));
  const judged: Judged[] = [];
  let programs = options.programs.filter(([, program]) => isFor(mode, program));
  for (const entry of KILLING.has(mode) ? entries : [undefined]) {
    const began = performance.now();
    stage.folder.setDeadly(entry, mode === "struck");
    const together = mode === "struck" ? STRUCK_TOGETHER : options.together;
    const runs = await runAll(stage, { programs, together });
    const took = performance.now() - began;
    const judge = await Judge.convene(stage, replayer);
    const verdicts: Judged[] = [];
    for (const run of runs) verdicts.push({ ...(await judge.verdict(run)), mode, entry });
    if (mode === "plain") await judgeByCommand(stage, judge, verdicts);
    judged.push(...verdicts);
    // Those that have no later task are not killed there.
    const longer = new Set(
      verdicts.filter(({ notes }) => notes > (entry ?? 0)).map(({ name }) => name),
    );
    programs = programs.filter(([name]) => longer.has(name));
    const judging = performance.now() - began - took;
    const at = entry === undefined ? "" : ` at task ${entry}`;
    const slowest = runs.toSorted((a, b) => b.tookMs - a.tookMs).slice(0, 5);
    const slow = slowest.map(({ name, tookMs }) => `${name} ${seconds(tookMs)}`).join(", ");
    say(
      `${store} ${mode}${at}: ${runs.length} programs in ${seconds(took)}, judged in ${seconds(judging)}, ${stage.ends().length} ends of workers so far; slowest: ${slow}`,
    );
  }
  if (mode !== "plain" && mode !== "cold" && stage.ends().length === 0) {
    judged.push({ ...notAProgram(mode), name: mode, wrong: ["no worker has ended"] });
  }
  return judged;
}

/** What is wrong with a mode itself is told like what is wrong with a program. */
function notAProgram(mode: Mode): Omit<Judged, "name" | "wrong"> {
  return { mode, entry: undefined, executions: [], notes: 0, story: "" };
}

/** Adds what the command says that people have for it. */
async function judgeByCommand(stage: Stage, judge: Judge, verdicts: Judged[]): Promise<void> {
  const told = await divergedByCommand(stage, PROGRAMS_FILE, judge.histories);
  if (typeof told === "string") {
    verdicts.push({ ...notAProgram(stage.mode), name: "workflow replay", wrong: [told] });
    return;
  }
  for (const [i, verdict] of verdicts.entries()) {
    const found = verdict.executions.flatMap((id) => {
      const message = told.get(id);
      return message === undefined ? [] : [`workflow replay says that ${id} diverged: ${message}`];
    });
    verdicts[i] = { ...verdict, wrong: [...verdict.wrong, ...found] };
  }
}

async function runAll(
  stage: Stage,
  { programs, together }: Pick<ModeOptions, "programs" | "together">,
): Promise<readonly Run[]> {
  const runs: Run[] = [];
  const left = [...programs];
  let isOver = false;
  const harm = harmTo(stage, () => isOver);
  const lane = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      runs.push(await runProgram(stage, ...next));
    }
  };
  await Promise.all(Array.from({ length: Math.min(together, programs.length) }, lane));
  // Children may end after those who called them.
  const limitMs = runs.some(({ broken }) => broken !== undefined)
    ? 5_000
    : MODE_FACTS[stage.mode].limitMs;
  const none = (open: { readonly size: number }) => (open.size === 0 ? true : undefined);
  await stage.watch.until("everything has ended", none, limitMs).catch(() => {});
  isOver = true;
  await harm;
  return runs;
}

async function harmTo(stage: Stage, isOver: () => boolean): Promise<void> {
  if (stage.mode === "drained") await drainUntil(stage, isOver);
  if (stage.mode === "killed") await strikeUntil(stage, isOver);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
