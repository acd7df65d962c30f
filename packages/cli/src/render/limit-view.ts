import type { LimitDetails, LimitRecord } from "@engine/contract";
import { ago } from "./elapsed.ts";
import type { Screen } from "./paint.ts";
import { table, titled } from "./table.ts";

export function limitTable(items: readonly LimitRecord[], { paint, now }: Screen): string {
  return table(
    ["LIMIT", "CONCURRENCY", "RATE", "CHANGED"],
    items.map((item) => [item.name, ...allowed(item), ago(item.updated_at, now)]),
    paint,
  );
}

export function limitBrief(record: LimitRecord, { paint }: Screen): string {
  const [concurrency, rate] = allowed(record);
  return titled(paint, paint("strong", record.name), [
    ["concurrency", concurrency],
    ["rate", rate],
  ]);
}

export function limitView(details: LimitDetails, screen: Screen): string {
  const { paint, now } = screen;
  const { held, holders } = details;
  const head = `${limitBrief(details, screen)}\n`;
  if (held === 0) return `${head}Nobody holds it.\n`;
  const rows = holders.map(({ execution_id, key, since }) => [
    execution_id,
    key ?? "",
    ago(since, now),
  ]);
  const more = held > holders.length ? `… and ${held - holders.length} more\n` : "";
  return head + table(["HELD BY", "KEY", "SINCE"], rows, paint) + more;
}

function allowed({ concurrency, rate }: LimitRecord): readonly [string, string] {
  const begun = rate ? `${rate.count} in ${rate.period_seconds} s` : "any";
  return [concurrency === null ? "any" : String(concurrency), begun];
}
