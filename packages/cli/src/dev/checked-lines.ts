import { refText } from "../arguments/workflow-ref.ts";
import { counted } from "../render/counted.ts";
import type { Paint, Screen } from "../render/paint.ts";
import { count, replayCounts, replayEntry } from "../render/replay-view.ts";
import { lines } from "../render/table.ts";
import type { Replayed } from "../replay/replayed.ts";
import { timeText } from "./news-lines.ts";
import { CHECK_SECONDS, CHECKED_EXECUTIONS, type Checked } from "./replay-checks.ts";

/** A change that breaks one execution breaks many in the same way. */
const SHOWN = 3;

export interface CheckedOptions extends Pick<Screen, "paint" | "now"> {
  /** ` --server-url …`, for a server that commands do not find by themselves. */
  readonly serverFlag: string;
}

/** What a new version would do to the executions that are under way. */
export function checkedLines(checked: Checked, { paint, now, serverFlag }: CheckedOptions): string {
  const ref = refText(checked.version);
  const odd = checked.replayed.filter(({ result }) => result !== "ok").sort(divergedFirst);
  const more = odd.length - SHOWN;
  const seeAll = `see all with: npx engine workflow replay ${ref}${serverFlag}`;
  return lines([
    [timeText(now, paint), paint("strong", ref), summary(checked, paint)].join("   "),
    ...odd.slice(0, SHOWN).flatMap((one) => replayEntry(one, paint)),
    ...[...(more > 0 ? [`${more} more; ${seeAll}`] : []), ...notReplayed(checked)].map(
      (note) => `  ${note}`,
    ),
  ]);
}

function summary({ replayed, version: { version }, failed }: Checked, paint: Paint): string {
  if (replayed.length === 0) {
    const why = failed === undefined ? "" : `: ${failed}`;
    return paint("failed", `no live execution could be replayed on version ${version}${why}`);
  }
  const what = counted(replayed, "live execution");
  const text = `${what} replayed on version ${version}: ${replayCounts(replayed)}`;
  const diverged = count(replayed, "diverged");
  if (diverged === 0) return text;
  const keeps = diverged === 1 ? "it keeps its version" : "they keep their version";
  return `${paint("failed", text)} (${keeps})`;
}

function notReplayed({ replayed, failed, leftOut, outOfTime }: Checked): string[] {
  const notes: string[] = [];
  if (failed !== undefined && replayed.length > 0) notes.push(`the others were not: ${failed}`);
  if (outOfTime) {
    const { executions, during } = outOfTime;
    notes.push(`${executions} left out: ${CHECK_SECONDS} s were over during ${during}`);
  }
  if (leftOut > 0)
    notes.push(`${leftOut} older left out: at most ${CHECKED_EXECUTIONS} are replayed`);
  return notes;
}

function divergedFirst(a: Replayed, b: Replayed): number {
  return Number(b.result === "diverged") - Number(a.result === "diverged");
}
