/**
 * What replicas say to each other, as the text of a notification: who says it, which kind it is, and
 * for a message the message as it stands.
 */

/** One text of a database's notification may hold 7,999 bytes. */
const MAX_BYTES = 7_900;

export type Announcement =
  | { readonly kind: "message"; readonly from: string; readonly text: string }
  /** Something of this replica's could not be said. */
  | { readonly kind: "missed"; readonly from: string }
  /** A replica's own, to find out whether it hears. */
  | { readonly kind: "test"; readonly from: string; readonly text: string };

export function announcementText(announcement: Announcement): string {
  const { kind, from } = announcement;
  return `${from} ${kind} ${"text" in announcement ? announcement.text : ""}`;
}

export function isTooLong(text: string): boolean {
  return Buffer.byteLength(text) > MAX_BYTES;
}

/** Undefined for what no engine of this kind has sent: the channel is open to everybody. */
export function parseAnnouncement(payload: string | undefined): Announcement | undefined {
  const [, from, kind, text] = /^([0-9a-f-]{36}) ([a-z]+) (.*)$/s.exec(payload ?? "") ?? [];
  if (from === undefined || text === undefined) return undefined;
  if (kind === "message" || kind === "test") return { kind, from, text };
  return kind === "missed" ? { kind, from } : undefined;
}
