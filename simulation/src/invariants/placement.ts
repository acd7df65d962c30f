import type { Requirements } from "@engine/contract";
import type { SessionRow } from "@engine/store";
import type { ActivitySet, Commit, Evidence } from "../evidence.ts";
import { unmet } from "../programs/wants.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { seenBy, wantsOfRow } from "./seen-workers.ts";
import type { Violation } from "./violation.ts";

/** As far as clocks differ that nobody has set. */
const CLOCKS_MS = 500;

/**
 * I14: every claim is one that its worker may have, by its session's labels and by the metadata and grants
 * that the claiming transaction found.
 */
export function placement(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  const sessions = new Map(evidence.sessions.map((session) => [session.session_id, session]));
  const areClocksRight = !evidence.faults.some(({ kind }) => kind === "clock_jump");
  return evidence.commits.flatMap((commit): Violation[] => {
    const claim = commit.events.find(({ type }) => type === "WORKFLOW_CLAIMED");
    const { row, execution_id, asked_at } = commit;
    // The claim of a copied log was another's.
    if (!claim || row.session === null || claim.seq <= (row.forked_from?.seq ?? 0)) return [];
    const session = sessions.get(row.session);
    const what = `event ${claim.seq} gives it to ${row.worker} in session ${row.session}`;
    const say = (message: string): Violation[] => [
      { invariant: "I14", execution_id, message: `${what}, ${message}` },
    ];
    if (!session) return say("which there never was");
    if (session.worker !== row.worker) return say(`which is one of ${session.worker}`);
    const lacking = row.requirements && lacks(row.requirements, session);
    if (lacking) return say(`which is not ${lacking}`);
    const wants = wantsOfRow(row, evidence);
    if (wants && "missing" in wants) return say("and an input is missing that is asked for");
    const seen = wants ? seenBy(commit, session, evidence.descriptions) : [];
    const unlike = wants && seen.map((worker) => unmet(wants, worker));
    if (unlike?.every((want) => want !== undefined)) {
      return say(`which was not ${unlike.join(", nor ")}`);
    }
    const { ended_at } = session;
    const hadEnded = ended_at !== null && ended_at + CLOCKS_MS < asked_at;
    if (hadEnded && (areClocksRight || !excuse("session ended by a wrong clock"))) {
      return say(`which had ended at ${ended_at}, before it was asked for at ${asked_at}`);
    }
    const set = shutBefore(commit, session.worker, evidence.activities);
    if (!set) return [];
    return say(`asked for at ${asked_at}; it was acknowledged as ${set.desired} at ${set.at}`);
  });
}

/** What a worker would have to be, in words. */
function lacks(
  needs: Requirements,
  { worker, runners, resources }: SessionRow,
): string | undefined {
  if (needs.worker !== undefined && needs.worker !== worker) return `worker ${needs.worker}`;
  if (needs.runner !== undefined && !runners.includes(needs.runner)) {
    return `one with runner ${needs.runner}`;
  }
  const cpu = Math.max(needs.requests?.cpu ?? 0, needs.totals?.cpu ?? 0);
  if (resources && cpu > resources.cpu_total) return `one with ${cpu} cores`;
  const memory = Math.max(needs.requests?.memory ?? 0, needs.totals?.memory ?? 0);
  if (resources && memory > resources.memory_total) return `one with ${memory} bytes of memory`;
  return undefined;
}

/** The operator's word by which a worker was to get nothing when a commit was asked for. */
function shutBefore(
  { asked_at, at: settled_at }: Commit,
  worker: string,
  activities: readonly ActivitySet[],
): ActivitySet | undefined {
  const own = activities.filter((set) => set.worker === worker && set.asked_at <= settled_at);
  const shut = own.findLast(
    ({ desired, at }) => desired !== "active" && at !== null && at < asked_at,
  );
  const isOpenAgain = own.some(
    ({ desired, at }) => desired === "active" && (at === null || at > (shut?.asked_at ?? 0)),
  );
  return isOpenAgain ? undefined : shut;
}
