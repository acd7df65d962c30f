import type { Schedule, ScheduleRun, ScheduleSpec, ScheduleStatus } from "@engine/contract";
import { refText } from "../arguments/workflow-ref.ts";
import { ago, elapsed } from "./elapsed.ts";
import type { Paint, Role, Screen } from "./paint.ts";
import { stateMark } from "./state-mark.ts";
import { table, titled } from "./table.ts";
import { valueText } from "./value-text.ts";

const MARKS = {
  active: ["●", "running"],
  paused: ["‖", "needs_you"],
  completed: ["✓", "muted"],
  disabled: ["✗", "failed"],
} as const satisfies Record<ScheduleStatus, readonly [string, Role]>;

export function scheduleTable(items: readonly Schedule[], { paint, now }: Screen): string {
  return table(
    ["STATUS", "SCHEDULE", "WORKFLOW", "FIRES", "NEXT", "LAST"],
    items.map((item) => [
      statusMark(item.status, paint),
      item.name,
      workflowText(item),
      whenText(item.spec),
      item.next_run_at === null ? "" : until(item.next_run_at, now),
      item.last_run_at === null ? "" : ago(item.last_run_at, now),
    ]),
    paint,
  );
}

/** One schedule, with what a person asks first: when it fires, and what it has done. */
export function scheduleView(record: Schedule, { paint, now }: Screen): string {
  const { last_run_at, last_skipped_at, input, next_run_at, upcoming } = record;
  const head = `${statusMark(record.status, paint)}  ${paint("strong", record.name)}`;
  const [, ...later] = upcoming;
  const next = next_run_at === null ? undefined : `${until(next_run_at, now)} (${next_run_at})`;
  const last = last_run_at && `${ago(last_run_at, now)}, ${record.last_execution_id}`;
  const skipped = last_skipped_at && `${record.skip_count}, last ${ago(last_skipped_at, now)}`;
  return titled(paint, head, [
    ["about", record.description ?? undefined],
    ["starts", workflowText(record)],
    ["fires", whenText(record.spec)],
    ["next", next],
    ["then", later.join("\n") || undefined],
    ["last run", last ?? undefined],
    ["runs", String(record.run_count)],
    ["skipped", skipped ?? undefined],
    ["failed starts", failures(record)],
    ["error", record.last_error ?? undefined],
    ["overlap", record.overlap],
    ["catch up", record.catch_up],
    ["input", input === null ? undefined : valueText(input)],
    ["routing input", record.routing_input_set ? "set, not shown" : undefined],
    ["run as", record.run_as ?? undefined],
    ["declared by", record.source === "code" ? "its workflow" : undefined],
  ]);
}

export function scheduleRunTable(items: readonly ScheduleRun[], { paint, now }: Screen): string {
  return table(
    ["STATE", "ID", "DUE", "STARTED", "TOOK", "ERROR"],
    items.map(({ state, execution_id, scheduled_for, started_at, finished_at, error }) => [
      stateMark(state, paint),
      execution_id,
      scheduled_for ?? "triggered",
      started_at === null ? "" : ago(started_at, now),
      started_at && finished_at ? elapsed(Date.parse(finished_at) - Date.parse(started_at)) : "",
      error?.message ?? "",
    ]),
    paint,
  );
}

function statusMark(status: ScheduleStatus, paint: Paint): string {
  const [glyph, role] = MARKS[status];
  return paint(role, `${glyph} ${status}`);
}

function workflowText({ namespace, workflow, version }: Schedule): string {
  const name = refText({ namespace, name: workflow });
  return version === null ? name : `${name} v${version}`;
}

function whenText(spec: ScheduleSpec): string {
  switch (spec.type) {
    case "cron":
      return `${spec.expression} (${spec.timezone})`;
    case "once":
      return `once at ${spec.at}`;
    case "interval": {
      const from = spec.start_at === undefined ? "" : ` from ${spec.start_at}`;
      const to = spec.end_at === undefined ? "" : ` to ${spec.end_at}`;
      return `every ${elapsed(spec.every_seconds * 1000)}${from}${to}`;
    }
  }
}

function failures({ failure_count, consecutive_failures: row }: Schedule): string | undefined {
  if (failure_count === 0) return undefined;
  return row === 0 ? String(failure_count) : `${failure_count}, the last ${row} in a row`;
}

/** `in 3 h 5 min`; a fire whose instant has passed waits for a server. */
function until(instant: string, now: number): string {
  const ms = Date.parse(instant) - now;
  return ms < 0 ? `due for ${elapsed(-ms)}` : `in ${elapsed(ms)}`;
}
