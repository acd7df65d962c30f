import type { RestSeen } from "./evidence.ts";
import type { WorkerSeen } from "./programs/wants.ts";
import type { CommitRecord } from "./store/commit-record.ts";
import type { World } from "./world.ts";

/** Longer than a short wait keeps its slot, or a server takes until it looks around. */
const QUIET_MS = 12_000;

interface RestWatchParts {
  readonly world: World;
  readonly record: CommitRecord;
  /** What workers are. */
  readonly workers: () => readonly WorkerSeen[];
  /** Whether every process runs, everybody may work, and nothing is under way. */
  readonly isUp: () => boolean;
  /** When the last of what was broken has had its consequences. */
  readonly wholeSince: () => number;
}

/**
 * Notices when the engine is at rest: nothing is broken, and nothing new has become durable for so
 * long that nothing can be on its way. That may be in the middle of a run.
 */
export class RestWatch {
  readonly rests: RestSeen[] = [];
  readonly #parts: RestWatchParts;
  #upSince: number | undefined;
  /** Of the last rest that was noted: nothing has happened since. */
  #noted = Number.NEGATIVE_INFINITY;

  constructor(parts: RestWatchParts) {
    this.#parts = parts;
  }

  /** Looks around. @returns Whether it is at rest. */
  look(): boolean {
    const { world, record, workers, isUp, wholeSince } = this.#parts;
    if (!isUp()) {
      this.#upSince = undefined;
      return false;
    }
    this.#upSince ??= world.now;
    const since = Math.max(this.#upSince, wholeSince(), record.lastAt);
    if (world.now < since + QUIET_MS) return false;
    if (this.#noted < since) {
      this.#noted = world.now;
      this.rests.push({
        at: world.now,
        since,
        rows: [...record.open.values()],
        workers: workers(),
      });
    }
    return true;
  }
}
