import type { Replayed } from "../replay/replayed.ts";
import { counted } from "./counted.ts";
import type { Paint, Role } from "./paint.ts";
import { lines } from "./table.ts";

const MARKS = {
  ok: ["✓", "running"],
  diverged: ["✗", "failed"],
  unverifiable: ["?", "needs_you"],
} as const satisfies Record<Replayed["result"], readonly [string, Role]>;

/** One line per execution, below it why it would not go on; the counts last. */
export function replayView(replayed: readonly Replayed[], paint: Paint): string {
  const summary = `${counted(replayed, "execution")} replayed: ${replayCounts(replayed)}`;
  return lines([...replayed.flatMap((one) => replayEntry(one, paint)), summary]);
}

export function replayEntry(one: Replayed, paint: Paint): string[] {
  const { execution_id, version, state, result } = one;
  const [glyph, role] = MARKS[result];
  const mark = paint(role, `${glyph} ${result}`.padEnd("✗ unverifiable".length));
  const ran = version === null ? "local" : `v${version}`;
  const head = `${mark}   ${execution_id}   ${ran} ${state.toLowerCase()}`;
  return [head, ...why(one).map((line) => `    ${line}`)];
}

function why(one: Replayed): string[] {
  if (one.result === "ok") return [];
  return (one.result === "diverged" ? one.failure.message : one.reason).split(/\r?\n/);
}

/** `2 ok, 1 diverged` */
export function replayCounts(replayed: readonly Replayed[]): string {
  const results = Object.keys(MARKS) as Replayed["result"][];
  const counts = results.map((result) => [count(replayed, result), result] as const);
  const shown = counts.filter(([n]) => n > 0).map(([n, result]) => `${n} ${result}`);
  return shown.join(", ");
}

/** How many came out this way. */
export function count(replayed: readonly Replayed[], result: Replayed["result"]): number {
  return replayed.filter((one) => one.result === result).length;
}
