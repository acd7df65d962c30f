import {
  type CallResolutions,
  type Checkpoint,
  type CheckpointAnswer,
  type CheckpointItem,
  decideCheckpoint,
  EngineError,
  invalidField,
  isCallStart,
  malformedCheckpoint,
  notFound,
} from "@engine/contract";
import { ExecutionSeals } from "@engine/store";
import { type CallResolver, NO_CALLS } from "../children/call-resolver.ts";
import type { Commits } from "../commits.ts";
import type { InnerPorts } from "../engine-ports.ts";
import { isRefusal } from "../refusal.ts";
import type { Session } from "./session.ts";

type Ports = Pick<InnerPorts, "store" | "seals" | "clock" | "config" | "log">;

/** Takes and answers one line of an open request. */
export type CheckpointLine = (line: {
  readonly items: readonly CheckpointItem[];
}) => Promise<{ readonly items: readonly CheckpointAnswer[] }>;

/** Takes the events that workers add to logs (CKP-1 to CKP-5). */
export class Checkpoints {
  readonly #ports: Ports;
  readonly #commits: Commits;
  readonly #calls: CallResolver;

  constructor(parts: { ports: Ports; commits: Commits; calls: CallResolver }) {
    this.#ports = parts.ports;
    this.#commits = parts.commits;
    this.#calls = parts.calls;
  }

  /** @param sessionOf Gives the session of the request, or rejects once it has ended. */
  lineOf(sessionOf: () => Promise<Session>): CheckpointLine {
    return async ({ items }) => ({ items: await this.accept(await sessionOf(), items) });
  }

  /** Answers in the order of the items, after the commit; a refused item touches no other. */
  async accept(
    session: Session,
    items: readonly CheckpointItem[],
  ): Promise<readonly CheckpointAnswer[]> {
    refuseTwice(items);
    try {
      return await Promise.all(items.map((item) => this.#acceptOrRefuse(session, item)));
    } catch (error) {
      if (error instanceof EngineError) throw error;
      this.#ports.log.error({ err: error, worker: session.worker }, "a checkpoint broke");
      throw new EngineError("unavailable", "the checkpoint could not be committed; send it again", {
        cause: error,
      });
    }
  }

  async #acceptOrRefuse(session: Session, item: CheckpointItem): Promise<CheckpointAnswer> {
    try {
      return await this.acceptOne(session, item.execution_id, item);
    } catch (error) {
      // That the store could not commit is true of the whole request.
      if (!isRefusal(error)) throw error;
      return { execution_id: item.execution_id, error: error.toBody().error };
    }
  }

  /** Throws what an item of a batch answers as its error. */
  async acceptOne(
    session: Session,
    execution_id: string,
    sent: Checkpoint,
  ): Promise<Exclude<CheckpointAnswer, { error: unknown }>> {
    const malformed = malformedCheckpoint(sent);
    if (malformed) throw malformed;
    // Nobody waits for a key where nothing is hidden.
    const item = ExecutionSeals.hides(sent.events) ? await this.#hidden(execution_id, sent) : sent;
    const { base_seq, events } = item;
    const seq = base_seq + events.length;
    // Usually nothing is awaited here, so that items which arrive together share a commit.
    const calls = events.some(isCallStart) ? await this.#resolve(execution_id, item) : NO_CALLS;
    const { config, clock } = this.#ports;
    const cancel_timeout_ms = config.executions.cancel_timeout * 1000;
    const sender = { session: session.id, now: clock(), calls, cancel_timeout_ms };
    const { changed } = await this.#commits.change(
      execution_id,
      (row, recorded, findKept) => {
        const verdict = decideCheckpoint(row, item, { ...sender, findKept }, recorded);
        if (verdict.kind === "refuse") throw verdict.error;
        return verdict.kind === "append" ? verdict : undefined;
      },
      // Events that the server appends behind the worker's own, such as a kept signal, are news to it.
      { above: base_seq, ownerHas: (written) => seq - (written.row.head - written.events.length) },
    );
    const { state, generation } = changed.row;
    session.holdings.acknowledged({ execution_id, generation, seq });
    return { execution_id, seq, state, generation };
  }

  async #hidden(execution_id: string, sent: Checkpoint): Promise<Checkpoint> {
    const { store, seals } = this.#ports;
    if (!(await store.executions.find(execution_id))) throw notFound("execution", execution_id);
    return { ...sent, events: await seals.hidden(execution_id, sent.events) };
  }

  async #resolve(
    execution_id: string,
    { events, routing_inputs }: Checkpoint,
  ): Promise<CallResolutions> {
    const caller = await this.#ports.store.executions.find(execution_id);
    if (!caller) throw notFound("execution", execution_id);
    return this.#calls.resolve(caller, events, routing_inputs);
  }
}

/** Refuses two items of one execution, which would have no order (CKP-5). */
function refuseTwice(items: readonly CheckpointItem[]): void {
  if (new Set(items.map(({ execution_id }) => execution_id)).size === items.length) return;
  throw invalidField("body.items", "each execution may appear once");
}
