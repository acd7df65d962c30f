import type { Place } from "../modules/source-module.ts";

/** A part of a schema or type that cannot be told from its text alone. */
export class Unread {
  readonly place: Place;
  /** In words that follow "because it". */
  readonly reason: string;

  constructor(place: Place, reason: string) {
    this.place = place;
    this.reason = reason;
  }
}

/** Thrown where the rest of a schema has no meaning without the part that cannot be read. */
export class NotExtracted extends Error {
  readonly part: Unread;

  constructor(part: Unread) {
    super(part.reason);
    this.part = part;
  }
}
