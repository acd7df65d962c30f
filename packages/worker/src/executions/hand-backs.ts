import type { Failure, ReleaseItem, ReleaseReason } from "@engine/contract";
import { released, releasing } from "../failpoints.ts";
import { type OwnSession, WorkerEnded } from "../link/own-session.ts";
import type { Calls } from "../link/text-link.ts";
import { messageOf } from "../transient.ts";
import type { World } from "../world.ts";
import type { Copy } from "./copy.ts";

const MOST_ITEMS = 256;

export interface HandBacksOptions extends Pick<World, "log"> {
  readonly link: Calls;
  readonly session: OwnSession;
}

interface Entry {
  readonly copy: Copy;
  readonly reason: ReleaseReason;
  readonly error: Failure | undefined;
  settle(): void;
}

/** Gives executions back to the queue, those of one turn of the loop in one request. */
export class HandBacks {
  readonly #options: HandBacksOptions;
  readonly #waiting: Entry[] = [];

  constructor(options: HandBacksOptions) {
    this.#options = options;
  }

  /** Settles when the server knows, or when there is nobody left to tell. Never rejects. */
  add(copy: Copy, reason: ReleaseReason, error?: Failure): Promise<void> {
    return new Promise((settle) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push({ copy, reason, error, settle });
    });
  }

  #flush(): void {
    while (this.#waiting.length > 0) void this.#send(this.#waiting.splice(0, MOST_ITEMS));
  }

  async #send(batch: readonly Entry[]): Promise<void> {
    const { link, session, log } = this.#options;
    if (releasing.hasSubscribers) releasing.publish({ of: [] });
    try {
      const answers = await session.persist((ref) => {
        const items = batch.flatMap((entry) => itemOf(entry));
        return items.length > 0 ? link.release(ref, items) : Promise.resolve([]);
      });
      if (released.hasSubscribers) released.publish({ of: [] });
      for (const answer of answers) {
        // A refusal says that another worker has the execution, or that it has ended.
        if ("error" in answer) log.debug(answer, "the server refused a release");
      }
    } catch (error) {
      if (!(error instanceof WorkerEnded)) {
        log.error({ error: messageOf(error) }, "executions could not be given back");
      }
    }
    for (const { settle } of batch) settle();
  }
}

function itemOf({ copy, reason, error }: Entry): ReleaseItem[] {
  const { execution_id, generation, state } = copy;
  return state === "gone" ? [] : [{ execution_id, generation, reason, ...(error && { error }) }];
}
