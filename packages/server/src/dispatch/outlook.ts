/** What the gate makes of an execution now, with every worker that it looked at (WHY-1). */
import type { WhyCode } from "@engine/contract";
import { lacks, lacksRoom } from "../gate/fits.ts";
import { type Candidate, type Dispatchable, gate } from "../gate/gate.ts";
import { WAIT_WORDS } from "./wait-words.ts";

export interface WorkerOutlook {
  readonly worker: string;
  /** What it lacks, in words; empty: it could have the execution. */
  readonly failing: readonly string[];
  readonly takesWork: boolean;
  readonly load: number;
  /** 0 = unlimited. */
  readonly slots: number;
  /** The resource of which it has too little left. */
  readonly lacksRoom: string | undefined;
  /** It could have the execution at once. */
  readonly isFree: boolean;
}

export interface Outlook {
  readonly code: WhyCode;
  readonly message: string;
  readonly workers: readonly WorkerOutlook[];
  /** Waiting executions that need the same and come before. */
  readonly ahead: number;
}

export function outlookOf<C extends Candidate & { readonly slots: number }>(
  wanted: Dispatchable,
  connected: readonly C[],
  ahead: number,
): Outlook {
  const answer = gate(wanted, connected);
  const workers = connected.map((candidate) => workerOutlook(wanted, candidate));
  if (answer.kind === "claim") {
    const message = "a worker is free for it: it is about to be given to one";
    return { code: "dispatching", message, workers, ahead };
  }
  const message = WAIT_WORDS[answer.reason](wanted.requirements);
  return { code: answer.reason, message, workers, ahead };
}

function workerOutlook(
  { requirements }: Dispatchable,
  candidate: Candidate & { readonly slots: number },
): WorkerOutlook {
  const { worker, takesWork, load, slots, resources } = candidate;
  const missing = lacks(requirements, candidate);
  const room = lacksRoom(requirements?.requests, resources, candidate.reservations());
  const failing = missing === undefined ? [] : [missing];
  const isFree = failing.length === 0 && takesWork && candidate.hasFreeSlot && !room;
  return { worker, failing, takesWork, load, slots, lacksRoom: room, isFree };
}
