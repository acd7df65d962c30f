/** What the gate makes of an execution now, with every worker that it looked at (WHY-1, RTE-6). */
import { type LimitDenial, printPreference, type Score, type WhyCode } from "@engine/contract";
import { type Candidate, type Dispatchable, gate, review } from "../gate/gate.ts";
import { WAIT_WORDS } from "./wait-words.ts";

/** A worker that could have it now. */
export interface EligibleOutlook {
  readonly worker: string;
  readonly load: number;
  /** Null where no policy ranks workers. */
  readonly score: Score | null;
}

/** A worker that cannot have it now. */
export interface RejectedOutlook {
  readonly worker: string;
  readonly load: number;
  /** 0 = unlimited. */
  readonly slots: number;
  readonly takesWork: boolean;
  /** Whether it has all that is needed, and only cannot take it now. */
  readonly isMatching: boolean;
  /** What it lacks, in words. */
  readonly failing: readonly string[];
}

export interface Outlook {
  readonly code: WhyCode;
  readonly message: string;
  /** The limit that it waits for. */
  readonly limited?: LimitDenial | undefined;
  /** In the order of choice. */
  readonly eligible: readonly EligibleOutlook[];
  readonly rejected: readonly RejectedOutlook[];
  /** The terms by which workers are ranked, as a user would type them. */
  readonly policy: readonly { readonly term: string; readonly weight: number }[];
  /** Waiting executions that need the same and come before. */
  readonly ahead: number;
}

export function outlookOf(
  wanted: Dispatchable,
  connected: readonly Candidate[],
  ahead: number,
): Outlook {
  const { eligible, rejected } = review(wanted, connected);
  const workers = {
    eligible: eligible.map(({ candidate: { worker, load }, score }) => ({ worker, load, score })),
    rejected: rejected.map(({ candidate, isMatching, failing }) => {
      const { worker, load, slots, takesWork } = candidate;
      return { worker, load, slots, takesWork, isMatching, failing };
    }),
    policy: [
      ...(wanted.requirements?.routing ?? []).map((term) => ({
        term: printPreference(term),
        weight: term.weight,
      })),
      // What reads routing input is shown to nobody (RIN-3).
      ...(wanted.hidden?.routing ?? []).map(({ weight }) => ({
        term: "routing preference",
        weight,
      })),
    ],
    ahead,
  };
  const answer = gate(wanted, connected);
  if (answer.kind === "wait") {
    const { limited } = wanted;
    return { code: answer.reason, message: WAIT_WORDS[answer.reason](wanted), limited, ...workers };
  }
  const message = "a worker is free for it: it is about to be given to one";
  return { code: "dispatching", message, ...workers };
}
