import type { Failure, ReleaseItem, ReleaseReason } from "@engine/contract";
import { released, releasing } from "../failpoints.ts";
import { type OwnSession, WorkerEnded } from "../link/own-session.ts";
import type { Calls } from "../link/text-link.ts";
import { messageOf } from "../transient.ts";
import type { World } from "../world.ts";
import type { Copy } from "./copy.ts";

const MOST_ITEMS = 256;

interface Entry {
  readonly copy: Copy;
  readonly reason: ReleaseReason;
  readonly error: Failure | undefined;
  settle(): void;
}

/**
 * Gives an execution back to the queue. Settles when the server knows, or when there is nobody left to
 * tell. Never rejects.
 */
export type HandBack = (copy: Copy, reason: ReleaseReason, error?: Failure) => Promise<void>;

/** The executions that are given back in one turn of the loop go in one request. */
export function createHandBack({
  link,
  session,
  log,
}: { readonly link: Calls; readonly session: OwnSession } & Pick<World, "log">): HandBack {
  const waiting: Entry[] = [];
  return (copy, reason, error) =>
    new Promise((settle) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ copy, reason, error, settle });
    });

  function flush(): void {
    while (waiting.length > 0) void send(waiting.splice(0, MOST_ITEMS));
  }

  async function send(batch: readonly Entry[]): Promise<void> {
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
