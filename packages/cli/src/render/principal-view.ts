import type { ApiKeyRecord, PrincipalRecord } from "@engine/contract";
import { ago, ahead } from "./elapsed.ts";
import type { Paint, Role, Screen } from "./paint.ts";
import { table, titled } from "./table.ts";

const MARKS = {
  enabled: ["●", "running"],
  disabled: ["○", "muted"],
  banned: ["⊘", "failed"],
} as const satisfies Record<string, readonly [string, Role]>;

export function principalTable(items: readonly PrincipalRecord[], { paint, now }: Screen): string {
  return table(
    ["STATE", "SUBJECT", "TYPE", "ROLES", "LAST SEEN", "ISSUER"],
    items.map((item) => [
      stateMark(item, paint),
      item.subject,
      item.type,
      item.roles.join(", "),
      item.last_seen_at === null ? "never" : ago(item.last_seen_at, now),
      item.issuer,
    ]),
    paint,
  );
}

/** One principal: whether it may come in, what it was given, when it was here. */
export function principalView(record: PrincipalRecord, { paint, now }: Screen): string {
  const { subject, type, issuer, display_name, ban_reason, roles, id } = record;
  const instant = (at: string) => `${ago(at, now)} (${at})`;
  const { created_at, updated_at, last_seen_at } = record;
  return titled(paint, `${stateMark(record, paint)}  ${paint("strong", subject)}`, [
    ["why", ban_reason ?? undefined],
    ["name", display_name ?? undefined],
    ["type", type],
    ["issuer", issuer],
    ["roles", roles.join("\n") || "none"],
    ["created", instant(created_at)],
    ["changed", updated_at === created_at ? undefined : instant(updated_at)],
    ["last seen", last_seen_at === null ? "never" : instant(last_seen_at)],
    ["id", id],
  ]);
}

export function keyTable(items: readonly ApiKeyRecord[], { paint, now }: Screen): string {
  return table(
    ["NAME", "BEGINS WITH", "EXPIRES", "LAST USED", "MAY"],
    items.map(({ name, prefix, expires_at, last_used_at, permissions }) => [
      name,
      `${prefix}_`,
      expiresText(expires_at, { paint, now }),
      last_used_at === null ? "never" : ago(last_used_at, now),
      permissions?.join(", ") ?? "all that its account may",
    ]),
    paint,
  );
}

function expiresText(at: string | null, { paint, now }: Pick<Screen, "paint" | "now">): string {
  if (at === null) return "never";
  return Date.parse(at) > now ? ahead(at, now) : paint("failed", `expired ${ago(at, now)}`);
}

/** Whether somebody may come in, as glyph and word: never colour alone. */
function stateMark({ enabled, banned }: PrincipalRecord, paint: Paint): string {
  const state = banned ? "banned" : enabled ? "enabled" : "disabled";
  const [glyph, role] = MARKS[state];
  return paint(role, `${glyph} ${state}`);
}
