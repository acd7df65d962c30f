import { type FSWatcher, statSync, watch } from "node:fs";
import { join } from "node:path";

/**
 * The operating system's reports about folders. Each is watched for itself, not with what lies
 * below it: on Linux that would be one watch for every folder of `node_modules` too. Folders, not
 * files: a file that is written by rename is another one afterwards.
 */
export class WatchedFolders {
  readonly #changed: (path: string) => void;
  readonly #watchers = new Map<
    string,
    { readonly watcher: FSWatcher; readonly identity: string }
  >();
  readonly #refused = new Set<string>();

  /** @param changed Hears the path of what happened; of a folder itself when no more is known. */
  constructor(changed: (path: string) => void) {
    this.#changed = changed;
  }

  /** Whether there are folders of which nothing is reported, so that one has to look oneself. */
  get isBlind(): boolean {
    return this.#refused.size > 0;
  }

  /**
   * Watches these folders from now on, and no others.
   *
   * @returns Whether there are new ones, in which something may have happened before.
   */
  set(folders: Iterable<string>): boolean {
    const wanted = new Set(folders);
    this.#refused.clear();
    for (const path of this.#watchers.keys()) if (!wanted.has(path)) this.#drop(path);
    return [...wanted].filter((path) => this.#watch(path)).length > 0;
  }

  close(): void {
    for (const path of this.#watchers.keys()) this.#drop(path);
  }

  #watch(path: string): boolean {
    const identity = identityOf(path);
    // Another folder of that name: the watch is still on the old one.
    if (this.#watchers.get(path)?.identity !== identity) this.#drop(path);
    if (identity === undefined || this.#watchers.has(path)) return false;
    try {
      const watcher = watch(path, (_event, name) => {
        this.#changed(name === null ? path : join(path, name));
      });
      // Watched again with the next look, which comes by itself.
      watcher.on("error", () => this.#drop(path));
      this.#watchers.set(path, { watcher, identity });
      return true;
    } catch {
      // The system has no more watches to give, or this file system reports nothing.
      this.#refused.add(path);
      return false;
    }
  }

  #drop(path: string): void {
    this.#watchers.get(path)?.watcher.close();
    this.#watchers.delete(path);
  }
}

function identityOf(folder: string): string | undefined {
  try {
    const { ino, birthtimeMs } = statSync(folder);
    return `${ino}:${birthtimeMs}`;
  } catch {
    return undefined;
  }
}
