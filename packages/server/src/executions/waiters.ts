import { type ExecutionRow, isTerminal } from "@engine/contract";
import type { Changed } from "@engine/store";
import type { Domain } from "../domain.ts";
import type { EnginePorts, SetTimer } from "../engine-ports.ts";
import type { RowNews } from "../replicas/bus-message.ts";

/** Whether a sync call stops waiting: at the end, or at a pause that somebody must answer (EXE-81). */
export function isSettled({ state }: Pick<ExecutionRow, "state">): boolean {
  return state === "PAUSED" || isTerminal(state);
}

export interface WaitOptions {
  /** Undefined = no limit. */
  readonly timeoutMs?: number | undefined;
  /** Fires when nobody needs the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls that wait for an execution. They are woken by the commits of this process and the news of
 * others; {@link refresh} makes up for lost news.
 */
export class Waiters implements Domain {
  readonly #ports: Pick<EnginePorts, "store" | "setTimer">;
  readonly #waits = new Map<string, Set<Wait>>();
  #isClosed = false;

  constructor(ports: Pick<EnginePorts, "store" | "setTimer">) {
    this.#ports = ports;
  }

  /**
   * Begins to listen. Open it before the change whose outcome is awaited, so that no commit falls
   * between the change and the wait; always close it.
   */
  open(execution_id: string): Wait {
    const waits = this.#waits.get(execution_id) ?? new Set();
    const wait = new Wait(this.#ports.setTimer, () => {
      waits.delete(wait);
      if (waits.size === 0) this.#waits.delete(execution_id);
    });
    this.#waits.set(execution_id, waits.add(wait));
    if (this.#isClosed) wait.giveUp();
    return wait;
  }

  onCommit({ row }: Changed): void {
    const waits = this.#waits.get(row.execution_id);
    if (waits) for (const wait of waits) wait.see(row);
  }

  async onNews(rows: readonly RowNews[]): Promise<void> {
    await this.#look(rows.map(({ id }) => id).filter((id) => this.#waits.has(id)));
  }

  /** Reads every execution that a call waits for. */
  refresh(): Promise<void> {
    return this.#look([...this.#waits.keys()]);
  }

  /** Every wait ends now, with the row as it is known. */
  close(): void {
    this.#isClosed = true;
    for (const waits of this.#waits.values()) for (const wait of waits) wait.giveUp();
  }

  async #look(ids: readonly string[]): Promise<void> {
    await Promise.all(
      ids.map(async (execution_id) => {
        const row = await this.#ports.store.executions.find(execution_id);
        if (row) for (const wait of this.#waits.get(execution_id) ?? []) wait.see(row);
      }),
    );
  }
}

/** One call that waits. */
export class Wait {
  readonly #setTimer: SetTimer;
  readonly #onClose: () => void;
  #latest: ExecutionRow | undefined;
  #resolve: ((row: ExecutionRow) => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #gaveUp = false;

  constructor(setTimer: SetTimer, onClose: () => void) {
    this.#setTimer = setTimer;
    this.#onClose = onClose;
  }

  /**
   * The row once it is settled, or as it is when the time is over. A state older than `from` does
   * not count: a resume must not be answered with the pause it answers.
   */
  until(from: ExecutionRow, { timeoutMs, signal }: WaitOptions = {}): Promise<ExecutionRow> {
    const known = this.#latest && this.#latest.head >= from.head ? this.#latest : from;
    this.#latest = known;
    if (isSettled(known) || this.#gaveUp || signal?.aborted) return Promise.resolve(known);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (timeoutMs !== undefined) {
        this.#cancelTimer = this.#setTimer(() => this.giveUp(), timeoutMs);
      }
      signal?.addEventListener("abort", () => this.giveUp(), { once: true });
    });
  }

  see(row: ExecutionRow): void {
    if (this.#latest && row.head < this.#latest.head) return;
    this.#latest = row;
    if (isSettled(row)) this.#answer();
  }

  giveUp(): void {
    this.#gaveUp = true;
    this.#answer();
  }

  close(): void {
    this.#cancelTimer?.();
    this.#onClose();
  }

  #answer(): void {
    if (this.#latest) this.#resolve?.(this.#latest);
  }
}
