import type {
  AssignmentSent,
  BodyEntry,
  Commit,
  Evidence,
  Fault,
  PrincipalChange,
} from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { commitsByExecution, isRefusal } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** No server decides on what is older (AUTH-57). */
const KNOWN_MS = 2_000;
/** Within so long workers are told of rights that were lost (AUTH-36). */
const PUSHED_MS = 5_000;
/** Questions to the store that stand between a change and the word of it: for the epochs, for the principal. */
const QUESTIONS = 4;
/** Between a frame that arrives and code that goes by it. */
const TOLD_MS = 250;
/** A worker that was cut off is told, at the latest, once its silence is noticed and it is back. */
const AFTERMATH_MS = 15_000;

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
  const barred = spellsOf(evidence, (change) => !(change.enabled && change.has_role));
  const commits = commitsByExecution(evidence);
  const cancelled = cancels(evidence);
  const isUnwound = ({ execution_id, part, at }: BodyEntry) =>
    part !== "run" || (cancelled.get(execution_id) ?? Number.POSITIVE_INFINITY) <= at;
  const begun = evidence.bodies.filter((body) => !isUnwound(body));
  return [
    ...evidence.assignments.flatMap((sent) => givenOut(sent, { commits, barred })),
    ...begun.flatMap((body) => begunLate(body, { evidence, commits, barred, excuse })),
    ...begunAgainstWord(begun, evidence),
    ...refusals(evidence, excuse),
    ...evidence.executions.flatMap(({ row: { execution_id, failure } }) =>
      failure?.details?.["code"] === "principal_unavailable"
        ? [found(execution_id, `it has failed for want of its principal: ${failure.message}`)]
        : [],
    ),
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
  const since = at - PUSHED_MS - longest_message - QUESTIONS * longest_question;
  const earlier = commits.get(execution_id)?.filter((commit) => commit.at <= at) ?? [];
  const last = earlier.at(-1);
  const run_as = last?.row.run_as;
  // Who has taken it over meanwhile cannot be known any sooner.
  const isTheirs = earlier.every(({ row, at: then }) => then < since || row.run_as === run_as);
  const spell = isTheirs ? spellAt(barred, run_as, { at, since }) : undefined;
  if (!spell) return [];
  if (wasCutOff(evidence, worker, spell.from, at) && excuse("cut off from the word of its rights"))
    return [];
  const what = `${worker} entered ${task_call_id} at ${at}`;
  return [found(execution_id, `${what}; its principal cannot be used since ${spell.from}`)];
}

/** Functions that were entered although their worker had been told that nothing is to begin. */
function begunAgainstWord(
  bodies: readonly BodyEntry[],
  { rights }: Evidence,
): readonly Violation[] {
  const heard = Map.groupBy(rights, keyOf);
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

/** A principal that is back may do what it may: only one that has lost its role is refused anything. */
function refusals(evidence: Evidence, excuse: Excuse): readonly Violation[] {
  const withoutRole = spellsOf(evidence, ({ has_role }) => !has_role);
  return evidence.commits.flatMap(({ execution_id, row, events, asked_at, at }) =>
    events.filter(isRefusal).flatMap((event): Violation[] => {
      if (event.seq <= (row.forked_from?.seq ?? 0)) return [];
      const since = asked_at - KNOWN_MS - QUESTIONS * evidence.longest_question;
      const lost = (withoutRole.get(row.run_as ?? "") ?? []).some(
        ({ from, until }) => from <= at && until >= since,
      );
      if (lost && excuse("refused while its principal had no role")) return [];
      const what = `event ${event.seq} refuses ${event.source_id}`;
      return [found(execution_id, `${what} for want of a permission that its principal has`)];
    }),
  );
}

function spellsOf(
  { principals }: Evidence,
  isBarred: (change: PrincipalChange) => boolean,
): ReadonlyMap<string, readonly Spell[]> {
  const spells = new Map<string, readonly Spell[]>();
  for (const [principal, changes] of Map.groupBy(principals, (change) => change.principal)) {
    const own: Spell[] = [];
    for (const change of changes) {
      const open = own.at(-1)?.until === Number.POSITIVE_INFINITY ? own.pop() : undefined;
      const from = open?.from ?? change.at;
      if (isBarred(change)) own.push({ from, until: Number.POSITIVE_INFINITY });
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

/** Faults that keep a worker, or all of them, from hearing. */
const OF_ALL: ReadonlySet<Fault["kind"]> = new Set([
  ...(["kill_server", "stall_server", "store_error", "store_unknown"] as const),
]);
const OF_THE_WORKER: ReadonlySet<Fault["kind"]> = new Set([
  ...(["stall_worker", "revoke_worker", "partition", "cut", "drop", "delay"] as const),
]);

function wasCutOff({ faults }: Evidence, worker: string, from: number, to: number): boolean {
  return faults.some(
    (fault) =>
      (OF_ALL.has(fault.kind) || (OF_THE_WORKER.has(fault.kind) && fault.worker === worker)) &&
      fault.at <= to &&
      (fault.until ?? fault.at) + AFTERMATH_MS >= from,
  );
}

function found(execution_id: string, message: string): Violation {
  return { invariant: "I20", execution_id, message };
}
