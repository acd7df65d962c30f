/**
 * Signals that came before anybody waited for them (EXE-53). They lie beside the row, one by one, so
 * that keeping or taking one costs the same however many there are; the row holds their number.
 */
import type { Encoded } from "../values/value.ts";

/** A signal that nobody has waited for yet. */
export interface KeptSignal {
  /** The number of its event: the order of arrival. */
  readonly seq: number;
  readonly name: string;
  readonly payload: Encoded;
}

/** What an execution's row says of its kept signals. */
export interface KeptSignals {
  readonly count: number;
  /** Of their payloads as JSON in UTF-8. */
  readonly bytes: number;
  /** How many there are of a name, oldest name first; names beyond the first twenty are not told apart. */
  readonly names: readonly { readonly name: string; readonly count: number }[];
}

/** What a change does to kept signals, in this order. */
export type SignalStep =
  | { readonly kind: "keep"; readonly signal: KeptSignal }
  | { readonly kind: "take"; readonly signal: Pick<KeptSignal, "seq" | "name"> }
  /** All of them: the execution has ended. */
  | { readonly kind: "drop" };

/** The oldest kept signal of a name behind a `seq`, as the transaction of a change sees them. */
export type FindKept = (name: string, after: number) => KeptSignal | undefined;

export const NO_SIGNALS: KeptSignals = { count: 0, bytes: 0, names: [] };

/** More names would make the row long again. */
const MOST_NAMES = 20;

export function withSignal(
  { count, bytes, names }: KeptSignals,
  { name, payload }: Omit<KeptSignal, "seq">,
): KeptSignals {
  return { count: count + 1, bytes: bytes + payloadBytes(payload), names: counted() };

  function counted(): KeptSignals["names"] {
    if (names.some((known) => known.name === name)) {
      return names.map((known) => (known.name === name ? { name, count: known.count + 1 } : known));
    }
    // Once there are others, a new name may be one of theirs.
    const isOther = names.length >= MOST_NAMES || toldApart(names) < count;
    return isOther ? names : [...names, { name, count: 1 }];
  }
}

export function withoutSignal(
  { count, bytes, names }: KeptSignals,
  { name, payload }: Omit<KeptSignal, "seq">,
): KeptSignals {
  if (count <= 1) return NO_SIGNALS;
  const left = names
    .map((known) => (known.name === name ? { name, count: known.count - 1 } : known))
    .filter((known) => known.count > 0);
  return { count: count - 1, bytes: Math.max(bytes - payloadBytes(payload), 0), names: left };
}

/** False when none of this name is kept, so that nobody need look. */
export function mayHold({ count, names }: KeptSignals, name: string): boolean {
  return names.some((known) => known.name === name) || toldApart(names) < count;
}

/** What the log says of signals that nobody took; undefined when there are none. */
export function signalsDropped({ count, names }: KeptSignals): string | undefined {
  if (count === 0) return undefined;
  const told = names.map(({ name, count: n }) => (n === 1 ? name : `${name} (${n})`));
  const others = count - toldApart(names);
  if (others > 0) told.push(told.length === 0 ? `${others}` : `${others} others`);
  return `signals that no call waited for: ${told.join(", ")}`;
}

function toldApart(names: KeptSignals["names"]): number {
  return names.reduce((sum, { count }) => sum + count, 0);
}

/** Length of a payload as it is stored. */
function payloadBytes(payload: Encoded): number {
  const text = JSON.stringify(payload);
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // The two halves of a pair make four bytes together.
    if (unit >= 0x800) bytes += unit >= 0xd800 && unit <= 0xdfff ? 1 : 2;
    else if (unit >= 0x80) bytes += 1;
  }
  return bytes;
}
