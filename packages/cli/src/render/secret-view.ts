import type { ConfigRecord, EncryptionStatus, Json, SecretRecord } from "@engine/contract";
import { ago } from "./elapsed.ts";
import type { Paint, Screen } from "./paint.ts";
import { table, titled } from "./table.ts";

export function secretTable(items: readonly SecretRecord[], screen: Screen): string {
  const { paint, now } = screen;
  return table(
    ["SECRET", "VERSION", "MASKED", "KEY", "CHANGED", "BY", "ABOUT"],
    items.map((item) => [
      item.name,
      String(item.version),
      maskedText(item, paint),
      item.key_id,
      ago(item.updated_at, now),
      item.updated_by ?? "",
      item.description ?? "",
    ]),
    paint,
  );
}

/** A secret without its value, which only `secrets get` shows. */
export function secretView(record: SecretRecord, { paint, now }: Screen): string {
  return titled(paint, paint("strong", record.name), [
    ...heldFields(record, now),
    ["masked", maskedText(record, paint)],
    ["key", record.key_id],
  ]);
}

export function configTable(items: readonly ConfigRecord[], { paint, now }: Screen): string {
  return table(
    ["NAME", "VERSION", "CHANGED", "BY", "ABOUT"],
    items.map((item) => [
      item.name,
      String(item.version),
      ago(item.updated_at, now),
      item.updated_by ?? "",
      item.description ?? "",
    ]),
    paint,
  );
}

export function configView(record: ConfigRecord, { paint, now }: Screen): string {
  return titled(paint, paint("strong", record.name), heldFields(record, now));
}

/** A value as a program wants it: a text as it is, anything else as JSON. */
export function heldText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export function keyRingTable({ primary, keys }: EncryptionStatus, { paint }: Screen): string {
  return table(
    ["KEY", "SEALS", ""],
    keys.map(({ id, rows }) => [
      id,
      rows === 1 ? "1 data key" : `${rows} data keys`,
      id === primary ? "primary: what is written now is sealed with it" : "",
    ]),
    paint,
  );
}

function heldFields(
  { version, description, updated_at, updated_by, created_at }: ConfigRecord,
  now: number,
): (readonly [string, string | undefined])[] {
  const instant = (at: string) => `${ago(at, now)} (${at})`;
  return [
    ["about", description ?? undefined],
    ["version", String(version)],
    ["created", instant(created_at)],
    ["changed", updated_at === created_at ? undefined : instant(updated_at)],
    ["by", updated_by ?? undefined],
  ];
}

/** One that is not masked is told apart: its value shows wherever it turns up. */
function maskedText({ unmasked, masked_values }: SecretRecord, paint: Paint): string {
  if (unmasked) return paint("needs_you", "not masked");
  return masked_values === 1 ? "1 value" : `${masked_values} values`;
}
