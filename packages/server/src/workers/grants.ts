import type { Changed } from "@engine/store";
import type { Acting, RunAs } from "../auth/run-as.ts";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { RowNews } from "../replicas/bus-message.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

const RETRY_MS = 1_000;

interface Parts {
  readonly ports: Pick<EnginePorts, "setTimer" | "log">;
  readonly sessions: Sessions;
  readonly runAs: RunAs;
}

/**
 * Tells workers what the principals of their executions may do by now (AUTH-36): when rights change, when
 * somebody else takes an execution over, and when a worker is back. Nothing of it happens with
 * authorization off.
 */
export class Grants implements Domain {
  readonly #parts: Parts;
  #telling: Promise<void> | undefined;
  /** Whether there was a reason since the last round began. */
  #isAsked = false;
  #isClosed = false;
  #cancelRetry: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.runAs.onChange(() => void this.tell());
  }

  onCommit({ row }: Changed): void {
    if (!this.#parts.runAs.isOn || row.session === null) return;
    const session = this.#parts.sessions.find(row.session);
    if (session?.isHeld && session.holdings.actsAs(row, row.run_as)) void this.tell();
  }

  onNews(rows: readonly RowNews[]): void {
    if (!this.#parts.runAs.isOn) return;
    for (const { id, generation, owner = "", run_as } of rows) {
      if (run_as === undefined) continue;
      const { holdings } = this.#parts.sessions.find(owner) ?? {};
      if (holdings?.actsAs({ execution_id: id, generation }, run_as)) void this.tell();
    }
  }

  refresh(): Promise<void> {
    return this.tell();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry?.();
  }

  /** Tells every worker of this server what it does not know. Never rejects. */
  tell(): Promise<void> {
    if (!this.#parts.runAs.isOn) return Promise.resolve();
    this.#isAsked = true;
    this.#telling ??= this.#tellOn().finally(() => {
      this.#telling = undefined;
    });
    return this.#telling;
  }

  async #tellOn(): Promise<void> {
    while (this.#isAsked && !this.#isClosed) {
      this.#isAsked = false;
      try {
        await this.#tellAll();
      } catch (error) {
        const { log, setTimer } = this.#parts.ports;
        log.debug({ err: error }, "could not tell workers of rights; it is tried again");
        this.#cancelRetry?.();
        this.#cancelRetry = setTimer(() => void this.tell(), RETRY_MS);
        return;
      }
    }
  }

  async #tellAll(): Promise<void> {
    const { runAs } = this.#parts;
    const ids = new Set<string | null>();
    for (const [, { run_as }] of this.#acting()) ids.add(run_as);
    for (const run_as of ids) await runAs.know({ run_as });
    for (const [session, acting] of this.#acting()) {
      const standing = runAs.standing(acting);
      if (standing) session.holdings.tellStanding(acting.execution_id, standing);
      // It came, or was changed, meanwhile.
      else this.#isAsked = true;
    }
  }

  *#acting(): Generator<[Session, Acting & { readonly execution_id: string }], void, undefined> {
    for (const session of this.#parts.sessions.all()) {
      if (!session.isConnected) continue;
      for (const acting of session.holdings.acting()) yield [session, acting];
    }
  }
}
