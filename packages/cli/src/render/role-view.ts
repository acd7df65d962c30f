import type { RoleRecord } from "@engine/contract";
import { ago } from "./elapsed.ts";
import type { Screen } from "./paint.ts";
import { table, titled } from "./table.ts";

/** Where no terminal tells its width nothing is cut: a program may read it. */
const LEAST = new Map([
  [2, 16],
  [3, 24],
]);

export function roleTable(items: readonly RoleRecord[], { paint, columns }: Screen): string {
  return table(
    ["ROLE", "KIND", "ABOUT", "GIVES"],
    items.map(({ name, built_in, permissions, description }) => [
      name,
      built_in ? "built in" : "own",
      description ?? "",
      permissions.join(", "),
    ]),
    paint,
    columns === undefined ? undefined : { columns, shrink: LEAST },
  );
}

/** One role, with every permission that it gives. */
export function roleView(record: RoleRecord, { paint, now }: Screen): string {
  const { name, built_in, description, permissions, created_at, updated_at, warnings } = record;
  const instant = (at: string | null) => (at === null ? undefined : `${ago(at, now)} (${at})`);
  return titled(paint, paint("strong", name), [
    ["about", description ?? undefined],
    ["gives", permissions.join("\n") || "nothing"],
    ["warning", warnings.map((text) => paint("needs_you", text)).join("\n") || undefined],
    ["kind", built_in ? "built in, never changes" : undefined],
    ["created", instant(created_at)],
    ["changed", updated_at === created_at ? undefined : instant(updated_at)],
  ]);
}
