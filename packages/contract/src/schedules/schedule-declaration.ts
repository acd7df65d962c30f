import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";
import { parseDuration } from "../values/duration.ts";
import { CatchUp, Overlap, ScheduleSpec } from "./schedule-spec.ts";

/** The schedule a workflow declares with its option `schedule` (EXE-76). */
export const DeclaredSchedule = z.strictObject({
  spec: ScheduleSpec,
  overlap: Overlap,
  catch_up: CatchUp,
  input: AnyJson,
  run_as: z.string().min(1).nullable(),
  description: z.string().nullable(),
});
export type DeclaredSchedule = z.infer<typeof DeclaredSchedule>;

/** The builders of the SDK: what a workflow's option `schedule` is written with. */
export type ScheduleBuilder = keyof typeof ARGUMENTS;

/** Whether a function of that name declares a schedule: `cron`, `interval`, `once`. */
export function isScheduleBuilder(name: string): name is ScheduleBuilder {
  return Object.hasOwn(ARGUMENTS, name);
}

export interface DeclarationIssue {
  /** Which argument, such as `timezone`; empty for the first. */
  readonly option: string;
  readonly message: string;
}

const shared = {
  overlap: Overlap.default("skip"),
  catchUp: CatchUp.default("one"),
  input: z.json().default(null),
  runAs: z.string().min(1).nullable().default(null),
  description: z.string().nullable().default(null),
};
const every = z.unknown().transform((value, context) => {
  const ms = parseDuration(value);
  if (ms !== undefined && ms >= 1000) return ms / 1000;
  const message = 'expected a duration of at least a second, such as "15m"';
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});

const ARGUMENTS = {
  cron: {
    first: z.string(),
    options: z.strictObject({ ...shared, timezone: z.string().optional() }),
  },
  interval: {
    first: every,
    options: z.strictObject({
      ...shared,
      startAt: z.string().optional(),
      endAt: z.string().optional(),
    }),
  },
  once: { first: z.string(), options: z.strictObject(shared) },
} as const;

/**
 * What `cron(expression, options)`, `interval(every, options)` and `once(at, options)` stand for;
 * the SDK calls it with the values, the server with what it reads of them in the source.
 */
export function declareSchedule(
  builder: ScheduleBuilder,
  [first, options = {}]: readonly unknown[],
): { declared: DeclaredSchedule; issues?: undefined } | { issues: readonly DeclarationIssue[] } {
  const rules = ARGUMENTS[builder];
  const about = rules.first.safeParse(first);
  const rest = rules.options.safeParse(options);
  if (!about.success || !rest.success) {
    const issues = [
      ...(about.error?.issues ?? []).map(({ message }) => ({ option: "", message })),
      ...(rest.error?.issues ?? []).flatMap(optionIssues),
    ].map(({ option, message }) => {
      const subject = option === "" ? `${builder}()` : `option ${option} of ${builder}()`;
      return { option, message: `${subject}: ${message.replace(/^Invalid input: /, "")}` };
    });
    return { issues };
  }
  const { overlap, catchUp, input, runAs, description, ...timing } = rest.data;
  const spec = specOf(builder, about.data, timing);
  return { declared: { spec, overlap, catch_up: catchUp, input, run_as: runAs, description } };
}

function optionIssues(issue: z.core.$ZodIssue): DeclarationIssue[] {
  if (issue.code !== "unrecognized_keys") {
    return [{ option: issue.path.map(String).join("."), message: issue.message }];
  }
  return issue.keys.map((key) => ({ option: key, message: "is unknown" }));
}

interface Timing {
  readonly timezone?: string | undefined;
  readonly startAt?: string | undefined;
  readonly endAt?: string | undefined;
}

function specOf(
  type: ScheduleBuilder,
  first: unknown,
  { timezone = "UTC", startAt, endAt }: Timing,
): ScheduleSpec {
  switch (type) {
    case "cron":
      return { type, expression: String(first), timezone };
    case "interval":
      return {
        type,
        every_seconds: Number(first),
        ...(startAt !== undefined && { start_at: startAt }),
        ...(endAt !== undefined && { end_at: endAt }),
      };
    case "once":
      return { type, at: String(first) };
  }
}
