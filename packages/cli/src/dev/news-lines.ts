import { relative } from "node:path";
import { refText } from "../arguments/workflow-ref.ts";
import type { Paint, Screen } from "../render/paint.ts";
import { lines } from "../render/table.ts";
import { shellQuote } from "../render/value-text.ts";
import type { FileNews, Given } from "./file-news.ts";
import type { Left } from "./yielding.ts";

/** What saves brought: a line for each workflow, and for each that a file no longer has. */
export function newsLines(
  news: readonly FileNews[],
  { paint, now }: Pick<Screen, "paint" | "now">,
  cwd: string,
): string {
  const rows = news.flatMap((one) => rowsOf(one, relative(cwd, one.path), cwd));
  const width = (column: 0 | 1) => Math.max(0, ...rows.map((row) => row[column].length));
  const [first, second] = [width(0), width(1)];
  return lines(
    rows.map(([what, result, file]) => {
      const role = result.startsWith("new") ? "running" : "muted";
      const shown = [paint("strong", what.padEnd(first)), paint(role, result.padEnd(second))];
      return [timeText(now, paint), ...shown, paint("muted", file)].join("   ").trimEnd();
    }),
  );
}

type Row = readonly [what: string, result: string, file: string];

function rowsOf(news: FileNews, file: string, cwd: string): Row[] {
  if (news.kind === "registered") {
    return [
      ...news.items.map((item): Row => [refText(item), resultText(item), file]),
      ...news.shared.map(
        (one): Row => [
          refText(one),
          "is in two files, the one registered last counts",
          `${file}, ${relative(cwd, one.other)}`,
        ],
      ),
      ...news.kept.map((one): Row => [refText(one), `removed, ${stays(one)}`, file]),
    ];
  }
  if (news.kind !== "gone") return [];
  const why = news.isDeleted ? "deleted" : "no workflow any more";
  return news.kept.map((one): Row => [refText(one), `${why}, ${stays(one)}`, file]);
}

function resultText({ created, version }: Given & { readonly created: boolean }): string {
  return created ? `new version ${version}` : `unchanged, version ${version}`;
}

function stays({ version }: Given): string {
  return `version ${version} stays registered`;
}

/** Why a file was not taken, and what goes on meanwhile. */
export function refusalText(
  file: string,
  reason: string | undefined,
  kept: readonly Given[],
): string {
  const what = `${file} cannot be registered${reason === undefined ? "" : `: ${reason}`}`;
  if (kept.length === 0) return what;
  const versions = kept.map((one) => `${refText(one)} at version ${one.version}`);
  return `${what}; still served: ${versions.join(", ")}`;
}

/** Workflows that go on as something else has registered them, and how to register the files. */
export function leftLines(left: readonly Left[], cwd: string): string {
  return lines(
    left.map(({ path, versions }) => {
      const file = relative(cwd, path);
      const named = versions.map((one) => `${refText(one)} stays at version ${one.version}`);
      return `${named.join(", ")}, which is not of ${file}: for that save the file, or npx engine workflow register ${shellQuote(file)}`;
    }),
  );
}

export function timeText(now: number, paint: Paint): string {
  return paint("muted", new Date(now).toTimeString().slice(0, 8));
}
