import type { ExecutionRow } from "@engine/contract";
import type { Clients } from "./clients.ts";
import type { Random } from "./random.ts";
import type { RestWatch } from "./rest-watch.ts";
import type { CommitRecord } from "./store/commit-record.ts";
import type { World } from "./world.ts";

const EVERY_MS = 1_500;

interface AnswersParts {
  readonly world: World;
  readonly random: Random;
  readonly record: CommitRecord;
  readonly watch: RestWatch;
  readonly clients: Clients;
  readonly isRough: () => boolean;
}

/**
 * People who answer what waits for an answer, sometimes two at a time. Once nothing is broken they take
 * their time: whoever waits has to come to rest first, and can be looked at.
 */
export class Answers {
  readonly #parts: AnswersParts;

  constructor(parts: AnswersParts) {
    this.#parts = parts;
  }

  begin(): void {
    const { world, random, record, watch, isRough } = this.#parts;
    world.after(EVERY_MS, () => this.begin());
    const isAtRest = watch.look();
    for (const row of record.open.values()) {
      if (isRough() ? random.chance(0.4) : isAtRest) this.#answer(row);
    }
  }

  #answer({ execution_id, waits }: ExecutionRow): void {
    const { random, clients } = this.#parts;
    for (const { kind, task_call_id, name } of waits) {
      const times = random.chance(0.2) ? 2 : 1;
      for (let i = 0; i < times; i++) {
        if (kind === "pause") void clients.resume(execution_id, task_call_id);
        if (kind === "signal") void clients.signal(execution_id, name);
      }
    }
  }
}
