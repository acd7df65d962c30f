import type { ReplicaRow } from "../store.ts";

/** The one server on a SQLite file. Who shares the file otherwise has no workers. */
export class Replicas {
  readonly #noted = new Set<string>();

  get live(): readonly string[] {
    return [...this.#noted];
  }

  note(replica: string): readonly ReplicaRow[] {
    this.#noted.add(replica);
    return [{ replica, seen_at: 0, silent_ms: 0 }];
  }

  remove(replica: string): void {
    this.#noted.delete(replica);
  }
}
