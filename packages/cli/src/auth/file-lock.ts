import { randomUUID } from "node:crypto";
import { open, readFile, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { EngineError } from "@engine/contract";

/** Time, to wait for who holds a lock. */
export interface LockTime {
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

const BETWEEN_TRIES_MS = 50;
/** Nothing that is done under a lock takes so long: who holds it is gone. */
const STALE_AFTER_MS = 60_000;
const LONGEST_WAIT_MS = 180_000;

interface Held {
  /** What the holder wrote, each time another text; empty while it has not. */
  readonly text: string;
  /** By the clock of the file system, which no other is compared with: it may be of another machine. */
  readonly written: number;
}

/**
 * Does something that no other process, and no other call of this one, does at the same time. A lock
 * that a crash has left is taken over.
 *
 * @throws EngineError `conflict` when another holds the lock for longer than anything takes.
 */
export async function withFileLock<T>(
  path: string,
  time: LockTime,
  work: () => Promise<T>,
): Promise<T> {
  const own = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
  const start = time.clock();
  let seen: (Held & { readonly since: number }) | undefined;
  while (!(await taken(path, own))) {
    const held = await holder(path);
    if (held === undefined) continue;
    const now = time.clock();
    if (!isSame(held, seen)) seen = { ...held, since: now };
    const isStale = now - (seen?.since ?? now) >= STALE_AFTER_MS || isOfDead(held);
    if (isStale && (await removeStale(path, held, own))) continue;
    if (now - start >= LONGEST_WAIT_MS) throw stillHeld(path);
    await new Promise<void>((resolve) => void time.setTimer(resolve, BETWEEN_TRIES_MS));
  }
  try {
    return await work();
  } finally {
    if ((await holder(path))?.text === own) await rm(path, { force: true });
  }
}

async function taken(path: string, own: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(own);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function holder(path: string): Promise<Held | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    return { text, written: mtimeMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function isSame(one: Held, other: Held | undefined): boolean {
  return one.text === other?.text && one.written === other.written;
}

/** Whether the holder was a process of this machine that has ended. */
function isOfDead({ text }: Held): boolean {
  const { pid, host } = ownerIn(text);
  return host === hostname() && typeof pid === "number" && !isAlive(pid);
}

/** Nobody, while the holder has not written its name yet. */
function ownerIn(text: string): { readonly pid?: unknown; readonly host?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Of several that find a stale lock one at a time removes it, after another look: what stands there
 * by then may be a lock that somebody has just taken.
 *
 * @returns Whether it is worth trying for the lock at once.
 */
async function removeStale(path: string, stale: Held, own: string): Promise<boolean> {
  const removing = `${path}.removing`;
  if (!(await taken(removing, own))) {
    const remover = await holder(removing);
    if (remover && isOfDead(remover)) await rm(removing, { force: true });
    return false;
  }
  try {
    const held = await holder(path);
    if (held && isSame(held, stale)) await rm(path, { force: true });
    return true;
  } finally {
    await rm(removing, { force: true });
  }
}

function stillHeld(path: string): EngineError {
  const seconds = LONGEST_WAIT_MS / 1000;
  return new EngineError(
    "conflict",
    `another engine command has held ${path} for ${seconds} seconds; remove that file if none is running`,
  );
}
