import {
  type DeclaredSchedule,
  declareSchedule,
  isScheduleBuilder,
  OPAQUE,
} from "@engine/contract";
import { calledOfSdk } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { CallPlace } from "../modules/source-module.ts";
import { normalized, specProblems } from "../schedule-spec/spec-problems.ts";
import type { Builder, Built } from "./evaluate.ts";

/** What `cron()`, `interval()` and `once()` of the SDK mean in the option `schedule` (EXE-76). */
export function scheduleBuilderOf(
  graph: SourceGraph,
  call: CallPlace,
  path: readonly string[],
): Builder | undefined {
  if (path.length !== 1 || path[0] !== "schedule") return undefined;
  const name = calledOfSdk(graph, call);
  if (name === undefined || !isScheduleBuilder(name)) return undefined;
  return { build: (values) => checked(declareSchedule(name, values)) };
}

/** Null for what is an issue already. */
export function declaredSchedule(option: unknown): DeclaredSchedule | null {
  return option === undefined || option === OPAQUE ? null : (option as DeclaredSchedule);
}

function checked(result: ReturnType<typeof declareSchedule>): Built {
  if (result.issues) return result;
  const { declared } = result;
  // A time that has passed is no mistake here: the file may be registered again at any time.
  const problems = specProblems(declared.spec, null);
  if (problems.length === 0) return { value: { ...declared, spec: normalized(declared.spec) } };
  const issues = problems.map(({ field, message }) => ({
    option: OPTIONS[field] ?? "",
    message: `option schedule of workflow(): ${field} ${message}`,
  }));
  return { issues };
}

/** Options of the builders by the fields they become; the others are the first argument. */
const OPTIONS: Readonly<Record<string, string>> = {
  timezone: "timezone",
  start_at: "startAt",
  end_at: "endAt",
};
