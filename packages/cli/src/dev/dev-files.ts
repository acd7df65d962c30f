/** The files that `engine dev` registers, and what each look at them finds to do. */
import { inTurn, isTargetMissing } from "../workflow-file/in-turn.ts";
import type { RegisterOutcome } from "../workflow-file/register-file.ts";
import type { Sources } from "../workflow-file/sources-below.ts";
import { type FileNews, type Given, qualified } from "./file-news.ts";

export interface Look {
  readonly news: readonly FileNews[];
  /** Something is missing that may only be on its way: look again after this time. */
  readonly againMs: number | undefined;
}

export interface DevFilesWorld {
  find(): Sources;
  /** Differs after each save of a file; empty when there is no such file. */
  stamp(path: string): string;
  isSavedSince(path: string, time: number): boolean;
  register(path: string): Promise<RegisterOutcome>;
  clock(): number;
}

interface Tracked {
  /** Every path that decides what the file registers, with its stamp before it was read. */
  readonly inputs: ReadonlyMap<string, string>;
  /** What it gave when it was last in order. */
  readonly given: readonly Given[];
}

/** How the files are during one look. */
interface Glance {
  stamp(path: string): string;
  /** Whether it has been away for long enough to believe it. */
  isMissing(path: string): boolean;
}

/**
 * Editors that write by rename, and version control, take a file away for a moment. Only a file
 * that stays away longer is taken as deleted.
 */
const MISSING_MS = 250;

/** The workflow files of `engine dev`: which of them a save concerns, and what came of it. */
export class DevFiles {
  readonly #world: DevFilesWorld;
  readonly #tracked = new Map<string, Tracked>();
  /** Paths that were not there at the last look, with when that began. */
  #missing: ReadonlyMap<string, number> = new Map();
  #folders: readonly string[] = [];

  constructor(world: DevFilesWorld) {
    this.#world = world;
  }

  /** Every path that the files are made of. */
  get inputs(): ReadonlySet<string> {
    return new Set([...this.#tracked.values()].flatMap(({ inputs }) => [...inputs.keys()]));
  }

  /** Folders in which a new file would be found. */
  get folders(): readonly string[] {
    return this.#folders;
  }

  /** Registers what has changed since the last look; the first one registers everything. */
  async look(): Promise<Look> {
    const { files, folders } = this.#world.find();
    this.#folders = folders;
    const missing = new Map<string, number>();
    const glance = this.#glance(missing);
    const found = new Set(files);
    const before = new Map(this.#tracked);
    const changed = files.filter((path) => {
      const tracked = this.#tracked.get(path);
      return !tracked || isChanged(tracked, glance);
    });
    const tried = await inTurn(
      changed,
      (path) => this.#register(path, glance),
      (one) => one.kind === "failed" && isTargetMissing(one.error),
    );
    // Only now, because a workflow may have moved from one of them to another.
    const news = tried.map((one, index): FileNews => {
      if (one.kind !== "registered") return one;
      const later = new Set(tried.slice(index).map(({ path }) => path));
      const others = [...found].filter((path) => !later.has(path));
      const shared = one.items.flatMap((item) => this.#among(others, item));
      return { ...one, kept: this.#nowhere(before.get(one.path)?.given ?? []), shared };
    });
    for (const path of [...this.#tracked.keys()]) {
      if (found.has(path) || !glance.isMissing(path)) continue;
      const kept = this.#forget(path);
      missing.delete(path);
      if (kept.length === 0) continue;
      news.push({ kind: "gone", path, isDeleted: glance.stamp(path) === "", kept });
    }
    this.#missing = missing;
    return { news, againMs: missing.size > 0 ? MISSING_MS : undefined };
  }

  #glance(missing: Map<string, number>): Glance {
    const now = this.#world.clock();
    const stamps = new Map<string, string>();
    return {
      stamp: (path) => {
        const stamp = stamps.get(path) ?? this.#world.stamp(path);
        stamps.set(path, stamp);
        return stamp;
      },
      isMissing: (path) => {
        const since = this.#missing.get(path) ?? now;
        if (now - since >= MISSING_MS) return true;
        missing.set(path, since);
        return false;
      },
    };
  }

  async #register(path: string, { stamp }: Glance): Promise<FileNews> {
    const before = this.#tracked.get(path);
    const given = before?.given ?? [];
    // Stamped before they are read, so that a save in the meantime counts as a later one.
    const known = new Map([path, ...(before?.inputs.keys() ?? [])].map((one) => [one, stamp(one)]));
    const startedAt = this.#world.clock();
    let outcome: RegisterOutcome;
    try {
      outcome = await this.#world.register(path);
    } catch (error) {
      this.#tracked.set(path, { inputs: known, given });
      return { kind: "failed", path, error, kept: given };
    }
    const { registered, problems, inputs } = outcome;
    const read = new Map(
      [path, ...inputs].map((one) => [one, known.get(one) ?? this.#lateStamp(one, startedAt)]),
    );
    if (!registered) {
      // What it was made of before still counts: to take the change back corrects it.
      this.#tracked.set(path, { inputs: new Map([...known, ...read]), given });
      return { kind: "refused", path, problems, kept: given };
    }
    const { items } = registered;
    this.#tracked.set(path, { inputs: read, given: items });
    return {
      kind: "registered",
      path,
      items,
      warnings: problems,
      bundle: outcome.bundle,
      kept: [],
      shared: [],
    };
  }

  /** The stamp of a file that nobody knew of before it was read. */
  #lateStamp(path: string, startedAt: number): string {
    const { stamp, isSavedSince } = this.#world;
    return isSavedSince(path, startedAt) ? "perhaps saved after it was read" : stamp(path);
  }

  #forget(path: string): readonly Given[] {
    const { given = [] } = this.#tracked.get(path) ?? {};
    this.#tracked.delete(path);
    return this.#nowhere(given);
  }

  /** The given workflows that no file defines any more. */
  #nowhere(given: readonly Given[]): Given[] {
    const defined = new Set([...this.#tracked.values()].flatMap((one) => one.given.map(qualified)));
    return given.filter((one) => !defined.has(qualified(one)));
  }

  /** The first of these files that has the workflow too. */
  #among(paths: readonly string[], item: Given): (Given & { readonly other: string })[] {
    const other = paths.find((path) =>
      this.#tracked.get(path)?.given.some((one) => qualified(one) === qualified(item)),
    );
    return other === undefined ? [] : [{ ...item, other }];
  }
}

function isChanged({ inputs }: Tracked, { stamp, isMissing }: Glance): boolean {
  return [...inputs].some(([path, before]) => {
    const now = stamp(path);
    return now !== before && (now !== "" || isMissing(path));
  });
}
