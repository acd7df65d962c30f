import {
  type Assignment,
  EngineError,
  type Holding,
  type WorkerFrame,
  type WorkerRegistration,
} from "@engine/contract";
import { settled } from "../../testing/manual-time.ts";
import type { ScriptedWorker } from "../../testing/scripted-worker.ts";
import type { TestEngine } from "../../testing/start-engine.ts";

/** How a worker gets its frames. */
export type Mode = "event" | "poll";

/** A worker that stays connected by itself and holds what it is given until the test ends it. */
export class Member {
  readonly worker: ScriptedWorker;
  readonly #mode: Mode;
  /** What it tells the server that it runs. */
  readonly #held = new Map<string, Holding>();
  #read = 0;
  #isAlive = false;

  private constructor(worker: ScriptedWorker, mode: Mode) {
    this.worker = worker;
    this.#mode = mode;
  }

  static async join(
    t: TestEngine,
    mode: Mode,
    { name, ...registration }: Partial<WorkerRegistration> & { name: string },
  ): Promise<Member> {
    const worker = t.strangeWorker(name);
    await worker.register(registration);
    const member = new Member(worker, mode);
    await member.connect();
    return member;
  }

  async connect(): Promise<void> {
    this.#isAlive = true;
    if (this.#mode === "event") await this.worker.connect();
    else void this.#pollOn();
    await settled();
  }

  /** Says that it lives; one that polls does so anyway. */
  async beat(): Promise<void> {
    if (!this.#isAlive || this.#mode === "poll") return;
    try {
      await this.worker.beat(this.#running());
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "session_superseded") throw error;
      this.die();
    }
  }

  /** Its process is killed. */
  die(): void {
    this.#isAlive = false;
    this.#held.clear();
    this.worker.connection?.close();
  }

  /** It holds the execution no more: its last checkpoint parked or ended it. */
  letGo({ execution_id }: { readonly execution_id: string }): void {
    this.#running();
    this.#held.delete(execution_id);
  }

  /** The newest assignment of an execution to it. */
  assignment(execution_id: string): Assignment | undefined {
    const frame = this.worker.frames.findLast(
      (one): one is Extract<WorkerFrame, { event: "assign" }> =>
        one.event === "assign" && one.data.execution_id === execution_id,
    );
    return frame?.data;
  }

  async #pollOn(): Promise<void> {
    while (this.#isAlive) {
      try {
        await this.worker.poll(this.#running());
      } catch {
        // Another process has its name, or the server has closed.
        return;
      }
    }
  }

  #running(): Holding[] {
    for (; this.#read < this.worker.frames.length; this.#read++) {
      const frame = this.worker.frames[this.#read];
      if (frame?.event === "assign") {
        const { execution_id, generation, head: seq } = frame.data;
        this.#held.set(execution_id, { execution_id, generation, seq });
      } else if (frame?.event === "welcome") {
        for (const { execution_id } of frame.data.drop) this.#held.delete(execution_id);
      }
    }
    return [...this.#held.values()];
  }
}
