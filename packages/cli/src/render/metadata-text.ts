import type { Metadata, WorkerServices } from "@engine/contract";
import type { Screen } from "./paint.ts";
import { fields, titled } from "./table.ts";

/** Whether text is a finite decimal, which the command line reads as a number. */
export function isPlainNumber(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text) && Number.isFinite(Number(text));
}

/** A value as one line; text that looks like a number is quoted. */
export function metadataText(value: string | number): string {
  return typeof value === "string" && isPlainNumber(value) ? JSON.stringify(value) : `${value}`;
}

export function metadataView(worker: string, metadata: Metadata, { paint }: Screen): string {
  const entries = Object.entries(metadata);
  if (entries.length === 0) return `Worker ${worker} has no metadata.\n`;
  return fields(
    paint,
    entries.map(([key, value]) => [key, metadataText(value)]),
  );
}

export function servicesView(
  worker: string,
  { offered, granted }: WorkerServices,
  { paint }: Screen,
): string {
  const list = (names: readonly string[]) => names.join(", ") || "none";
  return titled(paint, paint("strong", worker), [
    ["offers", list(offered)],
    ["granted", list(granted)],
  ]);
}
