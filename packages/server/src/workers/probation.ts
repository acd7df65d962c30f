import type { Suspicion } from "@engine/contract";

/** Suspects that a worker runs at a time until more is known of them. */
const MOST_APART = 8;
/** A suspect that lives so long may be innocent, and keeps the others waiting no longer. */
const PROBATION_MS = 10_000;

interface Suspect {
  readonly generation: number;
  readonly suspicion: Suspicion;
  readonly since: number;
}

/**
 * The suspects that a worker runs apart until more is known of them (LIV-5). Each of them may take a
 * process down. A `solo` one has to be the only suspect there, so that it is clear which one did it.
 */
export class Probation {
  readonly #clock: () => number;
  readonly #suspects = new Map<string, Suspect>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  begin(execution_id: string, generation: number, suspicion: Suspicion): void {
    if (suspicion === "none") this.#suspects.delete(execution_id);
    // One that is found again after a reconnect has not begun anew.
    else if (this.#suspects.get(execution_id)?.generation !== generation) {
      this.#suspects.set(execution_id, { generation, suspicion, since: this.#clock() });
    }
  }

  /**
   * The execution has got on, or the worker has it no more.
   *
   * @returns Whether it was a suspect.
   */
  end({ execution_id, generation }: { execution_id: string; generation: number }): boolean {
    const suspect = this.#suspects.get(execution_id);
    return suspect?.generation === generation && this.#suspects.delete(execution_id);
  }

  clear(): void {
    this.#suspects.clear();
  }

  /** @param claiming The suspicion of each execution that the worker is about to get. */
  hasPlace(suspicion: Suspicion, claiming: Iterable<Suspicion>): boolean {
    const others = [...this.#underWay(), ...claiming].filter((one) => one !== "none");
    if (suspicion === "solo" || others.includes("solo")) return others.length === 0;
    return others.length < MOST_APART;
  }

  *#underWay(): Generator<Suspicion, void, undefined> {
    const before = this.#clock() - PROBATION_MS;
    for (const { suspicion, since } of this.#suspects.values()) {
      if (suspicion === "solo" || since > before) yield suspicion;
    }
  }
}
