import type { AuditRecord } from "@engine/contract";
import type { Paint, Role, Screen } from "./paint.ts";
import { table } from "./table.ts";

const MARKS = {
  allow: ["✓", "running"],
  deny: ["✗", "failed"],
} as const satisfies Record<AuditRecord["decision"], readonly [string, Role]>;

/** Columns whose texts may be cut where a terminal is narrow: what was done to whom is read first. */
const LEAST = new Map([
  [2, 8],
  [4, 8],
  [5, 12],
]);

/** One line for each row; instants are whole, since rows are compared with other logs. */
export function auditTable(items: readonly AuditRecord[], { paint, columns }: Screen): string {
  return table(
    ["TIME (UTC)", "DONE", "BY", "ACTION", "TO", "MORE"],
    items.map((item) => [
      item.at,
      decisionMark(item, paint),
      byText(item),
      item.action,
      item.target ?? "",
      moreText(item),
    ]),
    paint,
    columns === undefined ? undefined : { columns, shrink: LEAST },
  );
}

function decisionMark({ decision, count }: AuditRecord, paint: Paint): string {
  const [glyph, role] = MARKS[decision];
  const word = decision === "allow" ? "done" : "refused";
  return paint(role, `${glyph} ${word}${count > 1 ? ` ×${count}` : ""}`);
}

/** Whoever is not known is known by the address at least. */
function byText({ actor, client_address, via_execution }: AuditRecord): string {
  if (!actor) return client_address === null ? "nobody known" : `nobody known, ${client_address}`;
  return via_execution === null ? actor.subject : `${actor.subject}, execution ${via_execution}`;
}

/** Why, what was missing, what it was before and after. */
function moreText({ decision, reason, permissions, changes }: AuditRecord): string {
  const used = permissions.join(", ");
  const isCredential = decision === "deny" && reason !== null && CREDENTIAL.has(reason);
  return [
    isCredential ? `credential ${reason}` : (reason ?? ""),
    used && (decision === "deny" ? `lacks ${used}` : `by ${used}`),
    ...Object.entries(changes ?? {}).map(([field, { before, after }]) =>
      before === null
        ? `${field}: ${changedText(after)}`
        : `${field}: ${changedText(before)} → ${changedText(after)}`,
    ),
  ]
    .filter((text) => text !== "")
    .join("; ");
}

/** Why a caller was not let in (AUTH-9): what the reasons are about goes without saying there only. */
const CREDENTIAL: ReadonlySet<string> = new Set([
  "missing",
  "malformed",
  "invalid",
  "expired",
  "disabled",
  "banned",
  "not_provisioned",
]);

function changedText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return "none";
  if (typeof value === "string") return value;
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isTexts ? value.join(", ") : JSON.stringify(value);
}
