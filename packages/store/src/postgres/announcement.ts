/** What replicas say to each other, as the text of a notification. */

/** One text of a database's notification may hold 7,999 bytes. */
const MAX_BYTES = 7_900;
/** More executions than that fit in so many texts: then "all" is shorter, and quicker to follow. */
const MAX_TEXTS = 10;

/** Undefined in place of ids: too many to name, or not known any more. */
export interface Announcement {
  readonly from: string;
  readonly ids?: readonly string[];
  readonly all?: true;
  readonly message?: string;
  /** A replica's own, to find out whether it hears. */
  readonly test?: string;
}

export function changedTexts(from: string, ids: Iterable<string>): readonly string[] {
  const texts: string[] = [];
  let some: string[] = [];
  let bytes = 0;
  for (const id of ids) {
    const more = Buffer.byteLength(JSON.stringify(id)) + 1;
    if (bytes + more > MAX_BYTES - 100 && some.length > 0) {
      texts.push(announcementText({ from, ids: some }));
      [some, bytes] = [[], 0];
    }
    some.push(id);
    bytes += more;
  }
  if (some.length > 0) texts.push(announcementText({ from, ids: some }));
  return texts.length > MAX_TEXTS ? [announcementText({ from, all: true })] : texts;
}

export function announcementText(announcement: Announcement): string {
  return JSON.stringify(announcement);
}

export function isTooLong(text: string): boolean {
  return Buffer.byteLength(text) > MAX_BYTES;
}

/** Undefined for what no engine of this kind has sent: the channel is open to everybody. */
export function parseAnnouncement(text: string | undefined): Announcement | undefined {
  try {
    const parsed = JSON.parse(text ?? "");
    return typeof parsed?.from === "string" ? parsed : undefined;
  } catch {
    return undefined;
  }
}
