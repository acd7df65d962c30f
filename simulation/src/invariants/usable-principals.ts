import type { AssignmentSent, BodyEntry, Commit, Evidence, Fault } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { commitsByExecution, fieldsOf } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/**
 * No server decides on what is older (AUTH-57). Workers may be told up to 5 s after a change (AUTH-36),
 * but nothing but the store and the network keeps a server that knows of it from telling them at once.
 */
const KNOWN_MS = 2_000;
/** Questions to the store that stand between a change and the word of it: for the epochs, for the principal. */
const QUESTIONS = 4;
/** Between a frame that arrives and code that goes by it. */
const TOLD_MS = 250;
/** A worker that was cut off is told, at the latest, once the silence is noticed and it is back. */
const SILENCE_MS = 15_000;
/** What could not be read was tried again by then. */
const RETRIED_MS = 1_500;

/** While a principal cannot be used, or may not run programs. */
interface Spell {
  readonly from: number;
  readonly until: number;
}

/**
 * I20, as far as executions have principals: nothing of an execution is given out or begun once it is
 * known that its principal cannot be used, and nothing of it fails because of that.
 */
export function usablePrincipals(
  evidence: Evidence,
  excuse: Excuse = uncounted,
): readonly Violation[] {
  const barred = spellsOf(evidence);
  const commits = commitsByExecution(evidence);
  const cancelled = cancels(evidence);
  const isUnwound = ({ execution_id, part, at }: BodyEntry) =>
    part !== "run" || (cancelled.get(execution_id) ?? Number.POSITIVE_INFINITY) <= at;
  const begun = evidence.bodies.filter((body) => !isUnwound(body));
  return [
    ...evidence.assignments.flatMap((sent) => givenOut(sent, { commits, barred })),
    ...begun.flatMap((body) => begunLate(body, { evidence, commits, barred, excuse })),
    ...begunAgainstWord(begun, evidence),
    ...failures(evidence),
  ];
}

interface Seen {
  readonly commits: ReadonlyMap<string, readonly Commit[]>;
  readonly barred: ReadonlyMap<string, readonly Spell[]>;
}

function givenOut(sent: AssignmentSent, { commits, barred }: Seen): readonly Violation[] {
  const { execution_id, generation, at, server, worker } = sent;
  const claim = commits.get(execution_id)?.find(({ row }) => row.generation === generation);
  const spell = spellAt(barred, claim?.row.run_as, { at, since: at - KNOWN_MS });
  if (!spell) return [];
  const what = `${server} gave it to ${worker} at ${at}, under generation ${generation}`;
  return [found(execution_id, `${what}; its principal cannot be used since ${spell.from}`)];
}

function begunLate(
  body: BodyEntry,
  { evidence, commits, barred, excuse }: Seen & { evidence: Evidence; excuse: Excuse },
): readonly Violation[] {
  const { execution_id, at, worker, task_call_id } = body;
  const { longest_message, longest_question } = evidence;
  const since = at - KNOWN_MS - longest_message - QUESTIONS * longest_question - TOLD_MS;
  const earlier = commits.get(execution_id)?.filter((commit) => commit.at <= at) ?? [];
  const last = earlier.at(-1);
  const run_as = last?.row.run_as;
  // Who has taken it over meanwhile cannot be known any sooner.
  const isTheirs = earlier.every(({ row, at: then }) => then < since || row.run_as === run_as);
  const spell = isTheirs ? spellAt(barred, run_as, { at, since }) : undefined;
  if (!spell) return [];
  const late = { from: spell.from, since };
  if (wasCutOff(evidence, body, late) && excuse("cut off from the word of its rights")) return [];
  const what = `${worker} entered ${task_call_id} at ${at}`;
  return [found(execution_id, `${what}; its principal cannot be used since ${spell.from}`)];
}

/** Functions that were entered although their worker had been told that nothing is to begin. */
function begunAgainstWord(
  bodies: readonly BodyEntry[],
  { rights }: Evidence,
): readonly Violation[] {
  const sure = rights.filter(({ is_sure }) => is_sure);
  const heard = Map.groupBy(sure, keyOf);
  return bodies.flatMap((body) => {
    const { execution_id, at, worker, task_call_id } = body;
    const words = (heard.get(keyOf(body)) ?? []).filter((word) => word.at <= at);
    const last = words.at(-1);
    if (!last?.hold) return [];
    // The first of those that say so in a row.
    const free = words.findLastIndex(({ hold }) => !hold);
    const told = words[free + 1]?.at ?? last.at;
    if (at <= told + TOLD_MS) return [];
    const what = `${worker} entered ${task_call_id} at ${at}`;
    return [found(execution_id, `${what}; it was told at ${told} that nothing is to begin`)];
  });
}

function keyOf(of: { process: string; execution_id: string; generation: number }): string {
  return `${of.process} ${of.execution_id} ${of.generation}`;
}

/**
 * What an execution was refused or has failed by for its principal: each may do everything while it is
 * usable, and until then executions wait.
 */
function failures({ executions }: Evidence): readonly Violation[] {
  return executions.flatMap(({ row: { execution_id, failure, forked_from }, log }) => {
    const refused = log.filter(({ event }) => {
      const isOwn = event.seq > (forked_from?.seq ?? 0);
      return isOwn && event.type === "TASK_FAILED" && fieldsOf(event)["type"] === REFUSED;
    });
    const isGivenUp = failure?.details?.["code"] === "principal_unavailable";
    return [
      ...refused.map(({ event }) => {
        const what = `event ${event.seq} refuses ${event.source_id}`;
        return found(execution_id, `${what}, which its principal may do while it is usable`);
      }),
      ...(isGivenUp ? [found(execution_id, `its principal is back: ${failure.message}`)] : []),
    ];
  });
}

const REFUSED = "TaskNotAuthorizedError";

function spellsOf({ principals }: Evidence): ReadonlyMap<string, readonly Spell[]> {
  const spells = new Map<string, readonly Spell[]>();
  for (const [principal, changes] of Map.groupBy(principals, (change) => change.principal)) {
    const own: Spell[] = [];
    for (const change of changes) {
      const open = own.at(-1)?.until === Number.POSITIVE_INFINITY ? own.pop() : undefined;
      const from = open?.from ?? change.at;
      if (!change.enabled || !change.has_role) own.push({ from, until: Number.POSITIVE_INFINITY });
      else if (open) own.push({ from, until: change.at });
    }
    spells.set(principal, own);
  }
  return spells;
}

/** The spell that lasts since before an instant until a later one. */
function spellAt(
  barred: Seen["barred"],
  principal: string | null | undefined,
  { since, at }: { readonly since: number; readonly at: number },
): Spell | undefined {
  const own = barred.get(principal ?? "") ?? [];
  return own.find(({ from, until }) => from < since && at < until);
}

/** When the cancel of an execution was committed. */
function cancels({ commits }: Evidence): ReadonlyMap<string, number> {
  const at = new Map<string, number>();
  for (const commit of commits) {
    const isCancel = commit.events.some(({ type }) => type === "WORKFLOW_CANCELLING");
    if (isCancel && !at.has(commit.execution_id)) at.set(commit.execution_id, commit.at);
  }
  return at;
}

/** Faults that keep a worker from hearing as long as they last. */
const LASTING: ReadonlySet<Fault["kind"]> = new Set([
  ...(["stall_worker", "stall_server", "kill_server", "partition", "revoke_worker"] as const),
]);
/** The same, where what they broke is noticed by the silence that follows. */
const OF_A_MOMENT: ReadonlySet<Fault["kind"]> = new Set(["cut", "drop", "delay"] as const);

/** Whether something kept the server that had given it out from knowing, or its worker from hearing. */
function wasCutOff(evidence: Evidence, body: BodyEntry, { since, from }: Late): boolean {
  const { faults, assignments } = evidence;
  const { execution_id, generation, worker, at: to } = body;
  const sent = assignments.find(
    (one) => one.execution_id === execution_id && one.generation === generation,
  );
  const concerns = (fault: Fault) =>
    fault.worker === null
      ? sent === undefined || fault.server === sent.server
      : fault.worker === worker;
  const own = faults.filter((fault) => fault.at <= to && concerns(fault));
  const failed = own.filter(({ kind, at }) => kind === "store_error" && at >= from);
  return (
    since - from < failed.length * RETRIED_MS ||
    own.some(({ kind, at, until }) => {
      if (LASTING.has(kind)) return (until ?? at) + SILENCE_MS >= from;
      return OF_A_MOMENT.has(kind) && at + SILENCE_MS >= from;
    })
  );
}

/** Since when nothing was to begin, and the instant by which that was known at the latest. */
interface Late {
  readonly from: number;
  readonly since: number;
}

function found(execution_id: string, message: string): Violation {
  return { invariant: "I20", execution_id, message };
}
