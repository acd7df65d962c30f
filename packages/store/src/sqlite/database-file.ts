import { type Stats, statSync } from "node:fs";
import { EngineError } from "@engine/contract";

/** Between two looks: a commit costs more, and many may come in a millisecond. */
const LOOK_MS = 5;

/**
 * The files that a connection has open. When one is deleted or replaced under it, SQLite notices
 * nothing: what is written from then on goes into a file that has no name any more.
 */
export class DatabaseFile {
  readonly #files: readonly { readonly path: string; readonly opened: Stats | undefined }[];
  #lookedAt = 0;

  /** @param path Of a database that has just been opened. */
  constructor(path: string) {
    this.#files = [path, `${path}-wal`].map((file) => ({ path: file, opened: find(file) }));
  }

  /** @throws EngineError `unavailable` while a file is not the one that was opened. */
  assertInPlace(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    for (const { path, opened } of this.#files) {
      if (opened && !isSame(opened, find(path))) throw displaced(path);
    }
    this.#lookedAt = now;
  }
}

function find(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function isSame(opened: Stats, found: Stats | undefined): boolean {
  return found?.ino === opened.ino && found.dev === opened.dev;
}

function displaced(path: string): EngineError {
  const message =
    "the file of the database was deleted or replaced while it is in use; nothing was written, put it back or restart the server";
  return new EngineError("unavailable", message, {
    cause: new Error(`${path} is not the file that was opened`),
  });
}
