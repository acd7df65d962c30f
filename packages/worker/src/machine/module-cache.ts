import { hash as hashOf, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EngineError } from "@engine/contract";
import { fetched, stored } from "../failpoints.ts";
import type { World } from "../world.ts";
import { isOfTheMachine, MachineTrouble } from "./machine-trouble.ts";

const STALE_DRAFT_MS = 3_600_000;

export interface ModuleCacheOptions extends Pick<World, "clock"> {
  readonly folder: string;
  /** Files to keep; those in use stay beyond it. */
  readonly size: number;
  /** Reads a bundle from the server. */
  fetch(hash: string): Promise<string>;
  isUsed(hash: string): boolean;
}

/** A bundle whose content does not have its hash, also when it was read a second time (LIV-6). */
export class HashMismatch extends Error {
  override readonly name = "HashMismatch";
}

/** Bundles as files named by their hash (RUN-4), which is checked on every load. */
export class ModuleCache {
  readonly #options: ModuleCacheOptions;
  readonly #loading = new Map<string, Promise<void>>();
  /** Hashes in order of use, the latest last. */
  readonly #known = new Set<string>();
  #adopting: Promise<void> | undefined;

  constructor(options: ModuleCacheOptions) {
    this.#options = options;
  }

  /** Where the bundle is once it was ensured. */
  file(hash: string): string {
    return join(this.#options.folder, `${hash}.mjs`);
  }

  /** Rejects when the bundle's file cannot be read; one that is gone can be fetched again. */
  async readable(hash: string): Promise<void> {
    await readFile(this.file(hash)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  }

  /**
   * Sees to it that the bundle's file is there and right, now: another worker of this home may have
   * removed it. Callers at the same time share one look and one fetch. Rejects with MachineTrouble
   * when the machine does not let it.
   */
  ensure(hash: string): Promise<void> {
    const shared = this.#loading.get(hash);
    if (shared) return shared;
    const loading = this.#check(hash).finally(() => this.#loading.delete(hash));
    this.#loading.set(hash, loading);
    return loading;
  }

  async #check(hash: string): Promise<void> {
    if (!/^[0-9a-f]{64}$/.test(hash)) {
      throw new EngineError("invalid_input", `a module hash must be 64 hex digits; got "${hash}"`);
    }
    this.#adopting ??= this.#adopt();
    await this.#adopting;
    const path = this.file(hash);
    const kept = await readFile(path, "utf8").catch(() => undefined);
    if (kept !== undefined && hashOf("sha256", kept) === hash) {
      const now = new Date(this.#options.clock());
      await utimes(path, now, now).catch(() => {});
      return this.#use(hash);
    }

    const bundle = await this.#fetch(hash);
    if (fetched.hasSubscribers) fetched.publish({ of: [] });
    try {
      await this.#keep(hash, bundle);
    } catch (error) {
      // The bundle is at hand: should it be kept later, it need not be fetched again.
      throw new MachineTrouble(error, () => this.#keep(hash, bundle));
    }
  }

  async #keep(hash: string, bundle: string): Promise<void> {
    await mkdir(this.#options.folder, { recursive: true });
    await this.#write(this.file(hash), bundle);
    if (stored.hasSubscribers) stored.publish({ of: [] });
    this.#use(hash);
  }

  /** Renamed into place: another worker of this home never sees half a file. */
  async #write(path: string, text: string): Promise<void> {
    const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
    try {
      await writeFile(draft, text);
      await rename(draft, path);
    } catch (error) {
      // Half a file would take what room there is.
      await rm(draft, { force: true }).catch(() => {});
      throw error;
    }
  }

  /** What earlier lives of the worker left counts too: the folder does not grow with every start. */
  async #adopt(): Promise<void> {
    const { folder, clock } = this.#options;
    const found: { hash: string; usedAt: number }[] = [];
    for (const name of await readdir(folder).catch(() => [])) {
      const [, hash, draft] = /^([0-9a-f]{64})\.mjs(\..*\.tmp)?$/.exec(name) ?? [];
      const file = hash && (await stat(join(folder, name)).catch(() => undefined));
      if (!hash || !file) continue;
      if (!draft) found.push({ hash, usedAt: file.mtimeMs });
      // Its writer was killed; a fresh one may still be on its way.
      else if (clock() - file.mtimeMs > STALE_DRAFT_MS) {
        // What cannot be removed takes room, and keeps no execution from starting.
        await rm(join(folder, name), { force: true }).catch(() => {});
      }
    }
    for (const { hash } of found.sort((a, b) => a.usedAt - b.usedAt)) this.#known.add(hash);
  }

  async #fetch(hash: string): Promise<string> {
    const { folder, fetch } = this.#options;
    // Needs a free handle, as the fetch did.
    const look = async () => void (await readdir(folder));
    for (let tries = 1; ; tries++) {
      const bundle = await fetch(hash).catch((error: unknown) => {
        throw isOfTheMachine(error) ? new MachineTrouble(error, look) : error;
      });
      if (hashOf("sha256", bundle) === hash) return bundle;
      if (tries === 2)
        throw new HashMismatch(`the bundle received twice does not have hash ${hash}`);
    }
  }

  #use(hash: string): void {
    const { size, isUsed } = this.#options;
    this.#known.delete(hash);
    this.#known.add(hash);
    for (const old of this.#known) {
      if (this.#known.size <= size) break;
      if (old === hash || isUsed(old)) continue;
      this.#known.delete(old);
      try {
        // At once: a later look must not find a file that is about to go.
        rmSync(this.file(old), { force: true });
      } catch {
        // The file stays, and is checked like any other when it is asked for again.
      }
    }
  }
}
