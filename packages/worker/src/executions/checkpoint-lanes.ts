import { type CheckpointAnswer, EngineError, type Event } from "@engine/contract";
import type { CheckpointReply, Delta } from "@engine/sdk/node";
import { answered } from "../failpoints.ts";
import { type OwnSession, WorkerEnded } from "../link/own-session.ts";
import type { TextCalls } from "../link/text-link.ts";
import { type Copy, learn } from "./copy.ts";
import { eventsFor } from "./hidden-values.ts";
import { isContentRefused } from "./refused-checkpoint.ts";

/** Most items of one request (CKP-5). */
const MOST_ITEMS = 256;
/** A batch is closed when its text reaches this; the server refuses bodies over 64 MiB. */
const BATCH_CHARACTERS = 8 * 1024 * 1024;

export interface CheckpointLanesOptions {
  readonly lanes: number;
  readonly link: Pick<TextCalls, "checkpointsText">;
  readonly session: OwnSession;
  /** Measures a request. */
  readonly timed?: (<T>(request: () => Promise<T>) => Promise<T>) | undefined;
  /** Another worker owns the execution now: the copy ends. */
  onStale(copy: Copy): void;
  /** The server refuses what the copy wrote; the execution must go to another worker. */
  onRefused(copy: Copy, error: unknown): void;
}

/**
 * Brings deltas to the server (CKP-6): a few requests in flight, an execution always on the same
 * one, so that its deltas keep their order; what arrives meanwhile rides the next request.
 */
export class CheckpointLanes {
  readonly #lanes: readonly CheckpointLane[];

  constructor(options: CheckpointLanesOptions) {
    this.#lanes = Array.from({ length: options.lanes }, () => new CheckpointLane(options));
  }

  /** Answers when it is certain what became of the delta. Never rejects. */
  send(copy: Copy, delta: Delta): Promise<CheckpointReply> {
    const lane = this.#lanes[hashOf(copy.execution_id) % this.#lanes.length];
    return new Promise((answer) => lane?.add({ copy, delta, answer }));
  }
}

interface Entry {
  readonly copy: Copy;
  readonly delta: Delta;
  answer(reply: CheckpointReply): void;
}

/** A delta under the generation it is sent with. */
interface Outgoing extends Entry {
  readonly generation: number;
}

class CheckpointLane {
  readonly #options: CheckpointLanesOptions;
  readonly #waiting: Entry[] = [];
  #state: "idle" | "scheduled" | "busy" = "idle";

  constructor(options: CheckpointLanesOptions) {
    this.#options = options;
  }

  add(entry: Entry): void {
    this.#waiting.push(entry);
    if (this.#state !== "idle") return;
    this.#state = "scheduled";
    // Not a delay: what a runner says at once arrives in one list, and goes together.
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    this.#state = "busy";
    try {
      while (this.#waiting.length > 0) {
        let batch: Entry[] = this.#take();
        while (batch.length > 0) batch = await this.#send(batch);
      }
    } finally {
      this.#state = "idle";
    }
  }

  #take(): Entry[] {
    let [items, characters] = [0, 0];
    for (const { delta } of this.#waiting) {
      if (items === MOST_ITEMS || (items > 0 && characters > BATCH_CHARACTERS)) break;
      characters += delta.events.length;
      items++;
    }
    return this.#waiting.splice(0, items);
  }

  /** Sends a batch until its answer is certain; gives back what has to be sent again. */
  async #send(batch: readonly Entry[]): Promise<Entry[]> {
    const { link, session, timed = (request) => request() } = this.#options;
    let sent: Outgoing[] = [];
    let answers: readonly CheckpointAnswer[];
    try {
      answers = await session.persist((ref) => {
        // Made anew for every try: meanwhile copies may have gone or got another generation.
        const held = batch.filter(({ copy }) => copy.state !== "gone");
        sent = held.map((entry) => ({ ...entry, generation: entry.copy.generation }));
        if (sent.length === 0) return Promise.resolve([]);
        const body = bodyOf(sent, session.answer.protocol);
        return timed(() => link.checkpointsText(ref, body));
      });
    } catch (error) {
      // One item spoils the request for all of them: sent alone, each item is judged by itself.
      if (batch.length > 1 && isContentRefused(error)) return this.#sendEach(batch);
      for (const entry of batch) this.#refuse(entry, error);
      return [];
    }
    if (answered.hasSubscribers) answered.publish({ of: [] });
    for (const entry of batch) if (entry.copy.state === "gone") entry.answer({ kind: "stale" });
    return sent.filter((entry, i) => !this.#isSettled(entry, answers[i]));
  }

  async #sendEach(batch: readonly Entry[]): Promise<Entry[]> {
    const unsettled: Entry[] = [];
    for (const entry of batch) unsettled.push(...(await this.#send([entry])));
    return unsettled;
  }

  /** An answer that makes no sense is trouble of its copy alone, not of the others in the lane. */
  #isSettled(entry: Outgoing, answer: CheckpointAnswer | undefined): boolean {
    try {
      return this.#settle(entry, answer);
    } catch (error) {
      this.#refuse(entry, error);
      return true;
    }
  }

  /** Whether the answer settles the entry. One whose claim was renewed meanwhile is sent again. */
  #settle(entry: Outgoing, answer: CheckpointAnswer | undefined): boolean {
    const { copy } = entry;
    if (copy.state === "gone") return true;
    if (!answer) {
      this.#refuse(entry, new Error("the server's answer has no item for it"));
    } else if (!("error" in answer)) {
      learn(copy, 0, answer.seq);
      entry.answer({ kind: "accepted", seq: answer.seq });
    } else if (answer.error.code === "seq_conflict") {
      entry.answer(conflictOf(copy, answer.error.details));
    } else if (answer.error.code !== "stale_claim") {
      this.#refuse(entry, EngineError.from(answer));
    } else if (entry.generation !== copy.generation) {
      return false;
    } else {
      this.#options.onStale(copy);
      entry.answer({ kind: "stale" });
    }
    return true;
  }

  #refuse({ copy, answer }: Entry, error: unknown): void {
    if (copy.state !== "gone" && !(error instanceof WorkerEnded)) {
      this.#options.onRefused(copy, error);
    }
    answer({ kind: "stale" });
  }
}

/** The events are text already. */
function bodyOf(items: readonly Outgoing[], protocol: number): string {
  return `{"items":[${items.map((item) => itemText(item, protocol)).join(",")}]}`;
}

function itemText(
  { copy: { execution_id }, generation, delta }: Outgoing,
  protocol: number,
): string {
  const { base_seq, state, waiting, routing_inputs } = delta;
  const events = eventsFor(protocol, delta.events);
  const wait = waiting ? `,"waiting":${JSON.stringify(waiting)}` : "";
  // An older server refuses the field: what is not understood is never dropped.
  const routing = routing_inputs === undefined ? "" : `,"routing_inputs":${routing_inputs}`;
  return `{"execution_id":${JSON.stringify(execution_id)},"generation":${generation},"base_seq":${base_seq},"state":"${state}","events":${events}${wait}${routing}}`;
}

function conflictOf(copy: Copy, details: EngineError["details"]): CheckpointReply {
  const { acknowledged, events } = details as { acknowledged: number; events: readonly Event[] };
  learn(copy, 0, acknowledged + events.length);
  return { kind: "conflict", acknowledged, events };
}

function hashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return hash;
}
