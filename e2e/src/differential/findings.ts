import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ExecutionSeen, Violation } from "./evidence.ts";
import type { ProgramPlan } from "./program-plan.ts";
import type { Settings } from "./settings.ts";
import type { Judged } from "./stretch.ts";

type Run = Pick<Settings, "seed" | "store" | "kills" | "defaults" | "isCareful" | "folder">;

const SHOWN_EVENTS = 60;

/** Keeps all of it in a folder. @returns What to print. */
export async function keepFinding(judged: Judged, run: Run): Promise<readonly string[]> {
  const { evidence, plan, violations, trace } = judged;
  const folder = resolve(run.folder, `${run.seed}-${plan.n}-${Date.now() % 1_000_000}`);
  await mkdir(folder, { recursive: true });
  const story = storyOf(judged, run);
  const write = (name: string, value: unknown) =>
    writeFile(
      join(folder, name),
      typeof value === "string" ? value : JSON.stringify(value, null, 1),
    );
  await write("story.txt", `${story.join("\n")}\n`);
  await write("plan.json", plan);
  await write("evidence.json", { ...evidence, executions: [] });
  for (const { execution_id, history, replay } of evidence.executions) {
    await write(`${execution_id}.history.json`, history);
    await write(`${execution_id}.replay.json`, replay);
  }
  if (trace !== "") await copyFile(trace, join(folder, "trace.jsonl")).catch(() => {});
  const shown = violations.slice(0, 4).map(lineOf);
  const more = violations.length > 4 ? [`  … ${violations.length - 4} more`] : [];
  return [
    `FAIL program ${plan.n} (${plan.setup.name}): ${JSON.stringify(plan.input.program)}`,
    ...shown,
    ...more,
    `  kept in ${folder}`,
    `  again: ${again(plan, run)}`,
  ];
}

function again({ n }: ProgramPlan, { seed, store, kills, defaults, isCareful }: Run): string {
  const careful = isCareful ? " --careful" : "";
  return `npm run differential -- --seed ${seed} --kills ${kills} --defaults ${defaults} --store ${store}${careful} --only ${n} --times 50`;
}

function storyOf({ evidence, plan, violations }: Judged, run: Run): string[] {
  const { setup, workflow, input, acts } = plan;
  return [
    `program ${plan.n} of seed ${run.seed}, on ${run.store}, ${setup.name}, ${workflow}`,
    `again: ${again(plan, run)}`,
    JSON.stringify(input),
    `acts: ${JSON.stringify(acts)}`,
    ...(evidence.stuck === null ? [] : [`given up: ${evidence.stuck}`]),
    "",
    ...violations.map(lineOf),
    ...evidence.executions.flatMap((one) => ["", ...logOf(one)]),
    "",
    "what tasks wrote:",
    ...evidence.entries.map((entry) => {
      const { execution_id, part, task_call_id, attempt, pid, at, exit } = entry;
      const end = exit ? `${exit.how} at ${timeOf(exit.at)}` : "was not seen to end";
      return `  ${timeOf(at)} ${pid} ${execution_id} ${part} ${task_call_id} ${attempt}: ${end}`;
    }),
    "",
    `ends of workers: ${evidence.deaths.map(({ pid, at }) => `${pid} at ${timeOf(at)}`).join(", ")}`,
  ];
}

function lineOf({ judge, execution_id, message }: Violation): string {
  return `  ${judge}: ${execution_id}: ${message}`.slice(0, 1_500);
}

function logOf({ execution_id, history, replay }: ExecutionSeen): string[] {
  const { events, execution } = history;
  const line = ({
    seq,
    recorded_at,
    time,
    type,
    source_id,
    value,
    meta,
  }: (typeof events)[number]) =>
    `  ${seq} ${recorded_at.slice(11, 23)} ${time.slice(11)} ${type} ${source_id} ${JSON.stringify(value)?.slice(0, 300)} ${meta ? JSON.stringify(meta) : ""}`;
  const left = events.length > SHOWN_EVENTS * 2 ? events.length - SHOWN_EVENTS * 2 : 0;
  const shown =
    left > 0 ? [...events.slice(0, SHOWN_EVENTS), ...events.slice(-SHOWN_EVENTS)] : events;
  return [
    `${execution_id} ${execution.workflow} ${execution.state}, replays as ${replay.result} ${replay.reason}`,
    ...shown.map(line),
    ...(left > 0 ? [`  (${left} events in the middle are left out)`] : []),
  ];
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}
