import type { EligibleWorker, PlacementAnswer } from "@engine/contract";
import type { Screen } from "./paint.ts";
import { table } from "./table.ts";

/** Workers in the order in which a start would be given to them, then the others. */
export function placementView(answer: PlacementAnswer, { paint }: Screen): string {
  const { eligible, rejected, error } = answer;
  if (error) {
    return `${paint("failed", "✗")} a start would fail with ${error.type}: ${error.message}\n`;
  }
  const isScored = eligible.some(({ score }) => score !== null);
  const parts: string[] = [];
  if (eligible.length > 0) {
    const head = ["WORKER", "LOAD", ...(isScored ? ["SCORE", "TERMS"] : [])];
    const rows = eligible.map((one) => [
      one.worker,
      String(one.load),
      ...(isScored ? [String(one.score ?? ""), termsText(one)] : []),
    ]);
    parts.push(table(head, rows, paint));
  } else parts.push("No connected worker could have it now: it would wait.\n");
  if (rejected.length > 0) {
    const rows = rejected.map(({ worker, failing }) => [worker, failing.join(", ")]);
    parts.push(table(["NOT NOW", "LACKS"], rows, paint));
  }
  return parts.join("\n");
}

function termsText({ terms }: EligibleWorker): string {
  return terms
    .map(({ term, weight, value }) =>
      value === null ? `${term}: nobody has it` : `${term}: ${weight} × ${value}`,
    )
    .join(", ");
}
