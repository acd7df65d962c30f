import type { ReplicaPort, ReplicaRow } from "../ports/replicas.ts";

/** The one server on a SQLite file. Other processes that use the file have no workers. */
export class Replicas implements ReplicaPort {
  readonly #noted = new Set<string>();

  lives(replica: string): boolean {
    return this.#noted.has(replica);
  }

  readonly #onWritten: (() => void)[] = [];

  onWrittenBeside(listener: () => void): void {
    this.#onWritten.push(listener);
  }

  /** Another process wrote to the file. */
  written(): void {
    for (const then of this.#onWritten) then();
  }

  async note(replica: string): Promise<readonly ReplicaRow[]> {
    this.#noted.add(replica);
    return [{ replica, seen_at: 0, silent_ms: 0 }];
  }

  async remove(replica: string): Promise<void> {
    this.#noted.delete(replica);
  }
}
