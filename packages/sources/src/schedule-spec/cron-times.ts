/**
 * Instants of a cron expression in a time zone, computed by croner (EXE-73). Where clocks are
 * changed, an expression that says at which hours it fires means times of day: one that is skipped
 * fires at the first instant after the gap, one that occurs twice fires at the first. An expression
 * for every hour means time that passes: it goes on through a gap and through a repeated hour.
 */
import { Cron, type CronOptions } from "croner";

const OPTIONS: CronOptions = {
  paused: true,
  mode: "5-or-6-parts",
  fixedTimeRule: "no-wildcard",
};

/** Parsed expressions: every look at a schedule needs one. */
const known = new Map<string, Cron>();
const MOST_KNOWN = 1000;

/** At most `limit` instants behind `after`, which is not one of them itself. */
export function cronTimes(
  { expression, timezone }: { readonly expression: string; readonly timezone: string },
  { after, limit }: { readonly after: number; readonly limit: number },
): number[] {
  const cron = parsed(expression, timezone);
  return cron.nextRuns(limit, new Date(after)).map((date) => date.getTime());
}

/** What is wrong with an expression, in croner's words. */
export function cronProblem(expression: string): string | undefined {
  if (expression.trim().startsWith("@")) {
    return "nicknames are not known, write 5 fields, or 6 with seconds first";
  }
  const count = expression.trim() === "" ? 0 : expression.trim().split(/\s+/).length;
  if (count !== 5 && count !== 6) {
    return `has ${count} fields; write 5 (minute, hour, day of month, month, day of week), or 6 with seconds first`;
  }
  try {
    new Cron(expression, { ...OPTIONS, timezone: "UTC" });
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, "");
  }
}

function parsed(expression: string, timezone: string): Cron {
  const key = `${timezone} ${expression}`;
  const before = known.get(key);
  if (before) return before;
  const cron = new Cron(withTimesWrittenOut(expression), { ...OPTIONS, timezone });
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, cron);
  return cron;
}

/**
 * Croner takes an expression for times of day when seconds, minutes and hours are without a wildcard
 * and a step: unless it is for every hour, they are written out as lists.
 */
function withTimesWrittenOut(expression: string): string {
  const fields = expression.trim().split(/\s+/);
  const hasSeconds = fields.length === 6;
  const hour = fields[hasSeconds ? 2 : 1] ?? "*";
  if (hour === "*" || hour === "?" || hour === "*/1") return fields.join(" ");
  const counts = hasSeconds ? [60, 60, 24] : [60, 24];
  return fields
    .map((field, index) => {
      const count = counts[index];
      return count === undefined ? field : writtenOut(field, count);
    })
    .join(" ");
}

function writtenOut(field: string, count: number): string {
  return field
    .split(",")
    .map((part) => {
      const [, from, to, step = "1"] = /^(?:[*?]|(\d+)-(\d+))(?:\/(\d+))?$/.exec(part) ?? [];
      const isWild = part.startsWith("*") || part.startsWith("?");
      if (from === undefined && !isWild) return part;
      const values: number[] = [];
      for (let value = Number(from ?? 0); value <= Number(to ?? count - 1); value += Number(step)) {
        values.push(value);
      }
      return values.join(",");
    })
    .join(",");
}
