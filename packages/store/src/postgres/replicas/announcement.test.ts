import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type Announcement, announcementText, parseAnnouncement } from "./announcement.ts";

const from = randomUUID();

test.each<Announcement>([
  { kind: "message", from, text: '{"kind":"hello"}' },
  { kind: "message", from, text: "two words\nand a line, 漢字" },
  { kind: "message", from, text: "" },
  { kind: "missed", from },
  { kind: "test", from, text: randomUUID() },
])("an announcement is read as it was written: $kind $text", (announcement) => {
  expect(parseAnnouncement(announcementText(announcement))).toEqual(announcement);
});

test.each([undefined, "", "not ours", "{}", `${from} later x`, `${from}`, "me message x"])(
  "%j is no announcement",
  (text) => {
    expect(parseAnnouncement(text)).toBeUndefined();
  },
);
