import {
  decideClaim,
  type ExecutionRow,
  type Requirements,
  type Suspicion,
} from "@engine/contract";
import type { Changed, SessionGuard } from "@engine/store";
import type { Commits } from "../commits.ts";
import type { InnerPorts } from "../engine-ports.ts";
import type { Limits } from "../limits/limits.ts";
import { isRefusal } from "../refusal.ts";
import type { HandOvers } from "../workers/hand-over.ts";
import type { Claiming } from "../workers/holdings.ts";
import type { Session } from "../workers/session.ts";

interface Parts {
  readonly ports: Pick<InnerPorts, "clock">;
  readonly commits: Commits;
  readonly handOvers: Pick<HandOvers, "unsure">;
  readonly limits: Pick<Limits, "during">;
  /** Called when it is known what became of a claim whose answer was lost. */
  readonly onSure: () => void;
}

/** What a claim under way takes of a worker. */
interface Taking {
  readonly execution_id: string;
  readonly requirements?: Requirements | null | undefined;
  readonly suspicion?: Suspicion | undefined;
}

interface Wanted extends Taking {
  /** Of the stream for which it is claimed; else that of the session now. */
  readonly guard?: SessionGuard;
  /** Whether the choice read metadata or grants: then they must be the same in the claim (WMD-2). */
  readonly readsAttributes: boolean;
  readonly score?: number | null;
}

/** Writes claims, and lets each take a slot from the moment it is decided on. */
export class Claims {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async claim(
    session: Session,
    wanted: Wanted,
    isStillMeant: (row: ExecutionRow) => boolean,
  ): Promise<{ changed: Changed; wrote: boolean }> {
    const { ports, commits } = this.#parts;
    const { worker, id, attributes } = session;
    const { limits } = wanted.requirements ?? {};
    const { execution_id, guard = session.guard, score = null } = wanted;
    const claim = commits.change(
      execution_id,
      (row) => {
        if (!isStillMeant(row)) return undefined;
        return decideClaim(row, { worker, session: id, now: ports.clock(), score });
      },
      {
        // The owner gets the claim itself with the assignment, or with the answer to a reconnect.
        ownerHas: () => 1,
        guard: { ...guard, active: true, ...(wanted.readsAttributes && { attributes }) },
        limits,
      },
    );
    const commit = this.#parts.limits.during(limits, claim);
    // An earlier claim whose answer was lost may have been committed: then the session has the execution
    // by that one, of which nobody here knows.
    return this.during(session, wanted, commit, ({ changed: { row }, wrote }) => {
      return wrote || row.session !== id || session.holdings.owns(row);
    });
  }

  /** Lets a claim under way take a slot, also while it is not known whether it was committed. */
  async during<Done>(
    session: Session,
    of: Taking,
    commit: Promise<Done>,
    isKnown: (done: Done) => boolean = () => true,
  ): Promise<Done> {
    const { execution_id, requirements = null, suspicion = "none" } = of;
    const { holdings } = session;
    const claim: Claiming = { done: commit, requirements, suspicion };
    const settle = (known: boolean) => {
      const { handOvers, onSure } = this.#parts;
      // The claim keeps its slot until it is known what became of it.
      if (!known) void handOvers.unsure(session, execution_id, claim).then(onSure);
      // The queue, read again, may have brought the execution once more: then a newer claim has the slot.
      else if (holdings.claiming.get(execution_id) === claim) holdings.claimed(execution_id);
    };
    holdings.claim(execution_id, claim);
    try {
      const done = await commit;
      settle(isKnown(done));
      return done;
    } catch (error) {
      settle(isRefusal(error));
      throw error;
    }
  }
}
