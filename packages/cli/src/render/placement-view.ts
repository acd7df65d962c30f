import type { PlacementAnswer } from "@engine/contract";
import type { Screen } from "./paint.ts";
import { table } from "./table.ts";

/** Workers whose terms are shown beside each other. */
const COMPARED = 4;

/** Workers in the order in which a start would be given to them, then the others. */
export function placementView(answer: PlacementAnswer, { paint }: Screen): string {
  const { eligible, rejected, error } = answer;
  if (error) {
    return `${paint("failed", "✗")} a start would fail with ${error.type}: ${error.message}\n`;
  }
  const parts: string[] = [];
  if (eligible.length === 0) {
    parts.push("No connected worker could have it now: it would wait.\n");
  } else {
    const isScored = eligible.some(({ score }) => score !== null);
    const rows = eligible.map(({ worker, load, score }) => [
      worker,
      String(load),
      ...(isScored ? [String(score ?? "")] : []),
    ]);
    parts.push(table(["WORKER", "LOAD", ...(isScored ? ["SCORE"] : [])], rows, paint));
  }
  const compared = eligible.slice(0, COMPARED);
  const terms = compared[0]?.terms ?? [];
  if (terms.length > 0) {
    const rows = terms.map(({ term }, at) => [
      term,
      ...compared.map((one) => valueText(one.terms[at])),
    ]);
    const head = ["TERM", ...compared.map(({ worker }) => worker)];
    parts.push(table(head, rows, paint));
  }
  if (rejected.length > 0) {
    const rows = rejected.map(({ worker, failing }) => [worker, failing.join(", ")]);
    parts.push(table(["NOT NOW", "LACKS"], rows, paint));
  }
  return parts.join("\n");
}

function valueText(
  term: { readonly weight: number; readonly value: number | null } | undefined,
): string {
  if (!term) return "";
  if (term.value === null) return "nobody has it";
  return `${term.weight} × ${Math.round(term.value * 1000) / 1000}`;
}
