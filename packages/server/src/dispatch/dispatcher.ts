import {
  EngineError,
  type ExecutionRow,
  type Holding,
  isQueued,
  type NewExecution,
  type Requirements,
  suspicionOf,
  type WaitsFor,
} from "@engine/contract";
import type { Changed, QueuedExecution, SessionGuard } from "@engine/store";
import type { Acting, RunAs } from "../auth/run-as.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Commits } from "../commits.ts";
import type { Domain } from "../domain.ts";
import type { InnerPorts } from "../engine-ports.ts";
import { recovered } from "../failpoints.ts";
import { lacks, type Needs, UNREADABLE } from "../gate/fits.ts";
import { type Dispatchable, gate } from "../gate/gate.ts";
import { readsAttributes } from "../gate/reads-attributes.ts";
import type { Limits } from "../limits/limits.ts";
import type { ProgressHub } from "../progress/progress-hub.ts";
import { isRefusal } from "../refusal.ts";
import type { RowNews } from "../replicas/bus-message.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { HandOvers } from "../workers/hand-over.ts";
import type { Session } from "../workers/session.ts";
import type { SessionLookup } from "../workers/session-lookup.ts";
import type { Sessions } from "../workers/sessions.ts";
import { Assigner, type AssignerParts } from "./assigner.ts";
import { Claims } from "./claims.ts";
import { DispatchQueue } from "./dispatch-queue.ts";
import { Elsewhere } from "./elsewhere.ts";
import { dispatchable, type Entry, type Group, type OpenHidden, openPlain } from "./group.ts";
import { type Match, Matching } from "./matching.ts";
import { type Outlook, outlookOf } from "./outlook.ts";
import { QueueReader } from "./queue-reader.ts";
import { Turns } from "./turns.ts";
import { WAIT_WORDS } from "./wait-words.ts";

interface Parts {
  readonly ports: InnerPorts;
  readonly commits: Commits;
  readonly sessions: Sessions;
  readonly catalog: Catalog;
  readonly progress: ProgressHub;
  readonly replicas: Pick<Replicas, "isLive" | "me" | "hasPeers">;
  readonly lookup: Pick<SessionLookup, "lookAgain">;
  readonly handOvers: Pick<HandOvers, "unsure" | "one">;
  readonly runAs: RunAs;
  readonly tokens: AssignerParts["tokens"];
  readonly limits: Limits;
  /** Opens terms that read routing input; without it only those that are not sealed are opened. */
  readonly openHidden?: OpenHidden;
}

/** Of an execution that no worker has lost. */
const UNSUSPECTED = { was_lost: false, suspicion: "none" } as const;
/** After so many executions in a row that are left to other servers, the rest of their group waits too. */
const MOST_LEFT = 64;
/** How long after a failed claim the next is tried. */
const RETRY_MS = 1_000;
/** How often it is looked whether executions that run apart have outlived their probation. */
const APART_MS = 1_000;
/** What groups are set aside for whose executions are left to other servers. */
const OTHERS = "other servers";

/**
 * Gives executions to workers. It looks when something happened (a new row, a resume, a freed slot, a
 * connection, a hand-over) and asks the store only then; {@link refresh} is the safety net.
 */
export class Dispatcher implements Domain {
  readonly #parts: Parts;
  readonly #ports: InnerPorts;
  readonly #queue: DispatchQueue;
  readonly #turns: Turns;
  readonly #matching: Matching<Session>;
  readonly #elsewhere: Elsewhere;
  readonly #reader: QueueReader;
  readonly #claims: Claims;
  readonly #assigner: Assigner;
  readonly #openHidden: OpenHidden;
  /** Principals that are asked about. */
  readonly #asking = new Set<string>();
  #claimsInFlight = 0;
  #isWatchingApart = false;
  #isClosed = false;

  constructor(parts: Parts) {
    const { ports, sessions, runAs, limits, openHidden = openPlain } = parts;
    this.#parts = parts;
    this.#ports = ports;
    this.#openHidden = openHidden;
    const { store, monotonic, setTimer } = ports;
    this.#turns = new Turns(ports.config.dispatch);
    const { compare: turn } = this.#turns;
    const laneOf = (queued: QueuedExecution) => this.#turns.laneOf(queued);
    this.#queue = new DispatchQueue({ openHidden, laneOf, turn });
    this.#matching = new Matching({
      queue: this.#queue,
      isPresent: (session) => sessions.find(session.id) === session,
      firstOf: (group) => this.#firstOf(group),
    });
    const onOver = () => this.#back(OTHERS);
    this.#elsewhere = new Elsewhere({ ...parts, onOver });
    const onRead = () => this.wake();
    this.#reader = new QueueReader({ store, monotonic, setTimer, queue: this.#queue, onRead });
    const failed = (message: string, error: unknown) => this.#failed(message, error);
    this.#claims = new Claims({ ...parts, onSure: () => this.wake() });
    this.#assigner = new Assigner({ ...parts, failed });
    sessions.onChange((session, news) => this.#matching.touch(session, news));
    sessions.onRoom(() => this.wake());
    runAs.onChange(() => void this.#lookAtHeld());
    limits.onFreed((buckets) => this.#back(...buckets.map(limited)));
  }

  async recover(): Promise<void> {
    await this.refresh();
    if (recovered.hasSubscribers) recovered.publish({ of: ["queue"] });
  }

  /** Writes a fresh execution; when a worker is free for it, the claim rides in the same commit. */
  async create(fresh: NewExecution): Promise<Changed> {
    const { preferred_worker = null, requirements = null, not_before = null, now } = fresh;
    const { namespace, workflow, by, run_as = by } = fresh;
    const acting = { run_as, namespace, workflow };
    if (this.#parts.runAs.standing(acting) === undefined) await this.#askBefore(acting);
    // A fork is claimed by itself: its copied log may be long, and is not sent with the claim.
    const isFree = !fresh.fork?.history.length && !this.#isCrowded(fresh);
    const isDue = not_before === null || not_before <= now;
    // Also while nobody can say whether it may run: it waits in the queue until that is known.
    const isHeld = this.#parts.runAs.standing(acting)?.isFree !== true;
    const { limits } = this.#parts;
    const needs = this.#needsOf(requirements);
    const wanted: Dispatchable = {
      was_lost: false,
      suspicion: "none",
      last_worker: preferred_worker,
      isHeld,
      unplaceable: fresh.unplaceable,
      limited: limits.denial(fresh),
      requirements,
      hidden: needs.hidden,
      isFresh: true,
    };
    const isHere = isFree && isDue && !this.#elsewhere.isBetter(wanted);
    const answer = isHere ? this.#matching.choose(wanted) : undefined;
    const { commits } = this.#parts;
    if (answer?.kind !== "claim") return (await commits.create(fresh)).changed;
    const { candidate: session, score } = answer;
    const { worker, id, guard, attributes } = session;
    const { lane } = this.#lineOf(fresh);
    this.#turns.claimed(fresh.priority ?? 0, lane, requirements?.fairness?.weight);
    const claim = { worker, session: id, epoch: guard.epoch, now, score };
    const claimed = commits.create(
      fresh,
      readsAttributes(wanted) ? { ...claim, attributes } : claim,
    );
    const commit = limits.during(requirements?.limits, claimed);
    try {
      const { changed, wrote } = await this.#claims.during(session, fresh, commit);
      // Where the session had moved on, the execution was created without a claim.
      if (wrote && changed.row.session === id) this.#assigner.send(session, changed);
      return changed;
    } finally {
      this.wake();
    }
  }

  /**
   * Lets a reconnected worker go on with an execution that was taken from it and that no other worker
   * has, under a new generation, if the gate admits it (WRK-9).
   *
   * @param guard Of the stream on which the worker listed the execution; it may be closed by now.
   */
  async adopt(
    session: Session,
    holding: Holding,
    guard: SessionGuard,
  ): Promise<ExecutionRow | undefined> {
    const { execution_id, generation } = holding;
    const isStillMeant = (row: ExecutionRow) => {
      const isTheirs = row.generation === generation && row.last_worker === session.worker;
      if (!isTheirs || !isQueued(row) || this.#isHeld(row)) return false;
      const limited = this.#parts.limits.denial(row);
      const wanted = { ...UNSUSPECTED, last_worker: session.worker, limited };
      const beside = session.beside(execution_id);
      return gate({ ...wanted, ...this.#needsOf(row.requirements) }, [beside]).kind === "claim";
    };
    try {
      const row = await this.#ports.store.executions.find(execution_id);
      if (!row) return undefined;
      if (this.#parts.runAs.isOn) await this.#parts.runAs.know(row);
      const reads = { readsAttributes: readsAttributes(this.#needsOf(row.requirements)) };
      const wanted = { execution_id, guard, requirements: row.requirements, ...reads };
      const { changed, wrote } = await this.#claims.claim(session, wanted, isStillMeant);
      return wrote ? changed.row : undefined;
    } catch (error) {
      if (error instanceof EngineError && error.code === "not_found") return undefined;
      throw error;
    }
  }

  /** Queues without giving out: another row of the same commit may come first. */
  onCommit({ row }: Changed): void {
    if (isQueued(row)) this.#queue.add(queuedOf(row));
    else this.#forget(row.execution_id);
  }

  /** Takes up what other servers committed: executions that wait now, and others that do not. */
  async onNews(rows: readonly RowNews[]): Promise<void> {
    const queued: string[] = [];
    for (const row of rows) {
      if (row.queued) queued.push(row.id);
      // News of two servers may come in the wrong order: the longer log is newer.
      else if (this.#queue.knows(row.id, row.head)) this.#forget(row.id);
    }
    if (queued.length === 0) return;
    if (!this.#hasReady()) {
      this.#reader.fallBehind();
      return;
    }
    for (const entry of await this.#ports.store.queue.find(queued)) this.#queue.add(entry);
    this.wake();
  }

  afterwards(): void {
    this.wake();
  }

  /** Gives out everything that can be given out now. */
  wake(): void {
    if (this.#isClosed) return;
    if (this.#reader.isBehind && this.#hasReady()) this.#read();
    while (this.#claimsInFlight < this.#ports.config.dispatch.batch_size) {
      const match = this.#matching.next();
      if (!match) break;
      this.#queue.remove(match.entry.execution_id);
      void this.#dispatch(match);
    }
    if (this.#reader.hasRunDry) this.#read();
    if (this.#queue.beyond) this.#lookBeyond();
    this.#watchApart();
  }

  /** Looks for waiting rows in the store: at the start, and for what a wake-up missed. */
  async refresh(): Promise<void> {
    this.#matching.roster.check(this.#parts.sessions.all());
    await this.#reader.refresh();
    if (this.#parts.runAs.isOn) await this.#lookAtHeld();
  }

  /** Why an execution has no worker now, as the gate sees it (DSP-8). */
  waitsFor(row: ExecutionRow): WaitsFor {
    const wanted = this.#wantedOf(row);
    const answer = gate(wanted, this.#elsewhere.everywhere());
    const code = answer.kind === "wait" ? answer.reason : "workers_full";
    return { code, message: WAIT_WORDS[code](wanted) };
  }

  /** What the gate makes of an execution now, over all connected workers (WHY-1). */
  async outlook(row: ExecutionRow): Promise<Outlook> {
    if (this.#parts.runAs.isOn) await this.#parts.runAs.know(row);
    const { limits } = row.requirements ?? {};
    // A limit may be full of which nobody here has heard.
    const limited = limits && (await this.#ports.store.limits.denialOf(limits, row));
    const connected = [...this.#elsewhere.everywhere()];
    return outlookOf(
      { ...this.#wantedOf(row), limited },
      connected,
      this.#queue.ahead(row.execution_id),
    );
  }

  /** What a fresh execution with these requirements would find, over all connected workers (RTE-6). */
  prospects(requirements: Requirements | null): Outlook {
    const needs = this.#needsOf(requirements);
    const wanted = { ...UNSUSPECTED, last_worker: null, isFresh: true, ...needs };
    return outlookOf(wanted, [...this.#elsewhere.everywhere()], 0);
  }

  /** Whether a connected worker could have an execution, even if it is full or paused now (EXE-17 row 14). */
  isMatched({ requirements }: ExecutionRow): boolean {
    const { sessions, replicas } = this.#parts;
    const needs = this.#needsOf(requirements);
    for (const session of sessions.connected(replicas)) {
      if (lacks(needs, session) === undefined) return true;
    }
    return false;
  }

  close(): void {
    this.#isClosed = true;
    this.#reader.close();
  }

  #read(): void {
    this.refresh().catch((error) => this.#failed("could not read the queue", error));
  }

  /** The first of a group that may go to a worker of this server, or what else it waits for. */
  #firstOf(group: Group): Entry | { readonly until: string } | undefined {
    const { runAs, limits } = this.#parts;
    const denied = group.first && limits.denial({ ...group.first, ...group.needs });
    if (denied) return { until: limited(denied.limit.bucket) };
    let left = 0;
    for (const entry of group) {
      if (runAs.isOn) {
        const standing = runAs.standing(entry);
        if (standing === undefined) {
          this.#ask(entry);
          return { until: asked(entry) };
        }
        if (!standing.isFree) {
          this.#queue.hold(group, (one) => runAs.standing(one)?.isFree === false);
          return group.first ? this.#firstOf(group) : undefined;
        }
      }
      const { execution_id } = entry;
      if (!this.#elsewhere.isLeft(execution_id, () => dispatchable(entry))) return entry;
      // Their time is short: executions behind so many wait it out with them.
      if (++left === MOST_LEFT) break;
    }
    return { until: OTHERS };
  }

  /** What groups were set aside for has come. */
  #back(...until: readonly string[]): void {
    for (const one of until) this.#queue.back(one);
    this.wake();
  }

  /** Looks for what waits behind all that is kept, where a worker is free that may be the one for it. */
  #lookBeyond(): void {
    if (this.#queue.firstReady) return;
    const hasNews = this.#matching.takeNews() && this.#matching.roster.hasFree;
    if (!hasNews && !this.#queue.hasUnasked && !this.#reader.wantsBeyond) return;
    this.#queue.hasUnasked = false;
    this.#reader
      .readBeyond()
      .catch((error) => this.#failed("could not read what waits behind the queue", error));
  }

  /** Where executions wait that run apart, time alone may make place for them (LIV-5). */
  #watchApart(): void {
    if (this.#isWatchingApart || this.#queue.waitingApart().length === 0) return;
    this.#isWatchingApart = true;
    this.#ports.setTimer(() => {
      this.#isWatchingApart = false;
      for (const group of this.#queue.waitingApart()) this.#queue.ready(group);
      this.wake();
    }, APART_MS);
  }

  /** What requirements say, opened where nobody is shown it. */
  #needsOf(requirements: Requirements | null): Needs {
    const hidden = requirements?.hidden;
    if (!hidden) return { requirements };
    return { requirements, hidden: this.#openHidden(hidden) ?? UNREADABLE };
  }

  /** A waiting execution as the gate looks at it. */
  #wantedOf(row: ExecutionRow): Dispatchable {
    const { last_worker, requirements, losses, generation, execution_id } = row;
    // What was known when it was set aside still says why it waits.
    const isHeld = this.#queue.isHeld(execution_id) || this.#isHeld(row);
    const suspicion = suspicionOf(losses);
    const of = { last_worker, suspicion, was_lost: losses.length > 0, isFresh: generation === 0 };
    return {
      ...of,
      ...this.#needsOf(requirements),
      isHeld,
      limited: this.#parts.limits.denial(row),
    };
  }

  /** Whether it is known that the principal of an execution may not run it now. */
  #isHeld(acting: Acting): boolean {
    return this.#parts.runAs.standing(acting)?.isFree === false;
  }

  /** Asks for whom executions wait, and gives them out once that is known. */
  #ask({ run_as }: Acting): void {
    if (run_as === null || this.#asking.has(run_as)) return;
    this.#asking.add(run_as);
    const known = () => {
      this.#asking.delete(run_as);
      this.#back(asked({ run_as }));
    };
    this.#parts.runAs.know({ run_as }).then(known, (error: unknown) => {
      this.#ports.log.debug({ err: error }, "could not look up whose rights an execution has");
      this.#ports.setTimer(known, RETRY_MS);
    });
  }

  /** The same before a start, which waits in the queue where it is not known. */
  async #askBefore(acting: Acting): Promise<void> {
    try {
      await this.#parts.runAs.know(acting);
    } catch (error) {
      if (!isRefusal(error)) return;
      throw error;
    }
  }

  /** Frees those whose principals are back. */
  async #lookAtHeld(): Promise<void> {
    const { runAs } = this.#parts;
    try {
      const ids = new Set([...this.#queue.held()].map(({ run_as }) => run_as));
      for (const run_as of ids) await runAs.know({ run_as });
    } catch (error) {
      this.#ports.log.debug({ err: error }, "could not look at executions that are held");
      this.#ports.setTimer(() => void this.#lookAtHeld(), RETRY_MS);
      return;
    }
    if (this.#queue.free((of) => runAs.standing(of)?.isFree !== false)) this.#reader.fallBehind();
    this.wake();
  }

  /** Whether others wait already that a fresh execution would have to come behind. */
  #isCrowded(fresh: NewExecution): boolean {
    if (this.#isClosed || !this.#reader.isComplete || this.#queue.dry().size > 0) return true;
    // A free worker goes to an execution that has waited for it, whatever else that one needs.
    if (this.#queue.size === 0 || this.#matching.isBusy) return this.#queue.size > 0;
    const { requirements, lane } = this.#lineOf(fresh);
    for (const { standing } of this.#queue.groupsOf(requirements, lane)) {
      if (standing === "filed") return true;
    }
    return false;
  }

  /** Where a fresh execution would wait. */
  #lineOf({ requirements = null, namespace }: NewExecution) {
    const text = requirements === null ? null : JSON.stringify(requirements);
    const lane = this.#turns.laneOf({
      requirements: text,
      namespace,
      generation: 0,
      state: "CREATED",
    });
    return { requirements: text, lane };
  }

  #hasReady(): boolean {
    for (const session of this.#parts.sessions.all()) if (session.isReady) return true;
    return false;
  }

  /**
   * Queues an execution again after a failed claim, once it is known that it was not claimed after all.
   * The safety tick might not find it: of a long queue it only reads a part.
   */
  #enqueueLater(session: Session, entry: Entry): void {
    const { execution_id } = entry;
    this.#ports.setTimer(() => {
      if (this.#isClosed) return;
      if (session.holdings.claiming.has(execution_id)) this.#enqueueLater(session, entry);
      else if (!this.#queue.has(execution_id)) this.#queue.add(entry);
      this.wake();
    }, RETRY_MS);
  }

  #forget(execution_id: string): void {
    this.#queue.remove(execution_id);
    this.#elsewhere.forget(execution_id);
  }

  async #dispatch({ entry, candidate: session, score }: Match<Session>): Promise<void> {
    this.#claimsInFlight++;
    try {
      const { execution_id, suspicion, group } = entry;
      const { requirements } = group.needs;
      this.#turns.claimed(entry.priority, group.lane, requirements?.fairness?.weight);
      const of = { execution_id, suspicion, requirements, score };
      const wanted = { ...of, readsAttributes: readsAttributes(group.needs) };
      const isStillMeant = (row: ExecutionRow) => session.isReady && !this.#isHeld(row);
      const { attributes } = session;
      const { changed, wrote } = await this.#claims.claim(session, wanted, isStillMeant);
      this.#elsewhere.forget(execution_id);
      if (wrote) this.#assigner.send(session, changed);
      else if (changed.limited) this.#queue.add(queuedOf(changed.row));
      // It still waits, so no other claim was faster: the session must have changed in the store. Until
      // that is read, the same worker would be chosen again and again.
      else if (isQueued(changed.row)) {
        const isSeen = session.isReady && !this.#isHeld(changed.row);
        if (isSeen) await this.#parts.lookup.lookAgain(session);
        // Nothing was found that is otherwise: what refused the claim may be read a little later.
        const isAsBefore =
          session.isReady && session.takesWork && session.attributes === attributes;
        if (isSeen && isAsBefore) this.#enqueueLater(session, entry);
        else this.#queue.add(queuedOf(changed.row));
      }
    } catch (error) {
      this.#failed(`could not claim execution ${entry.execution_id}`, error);
      this.#enqueueLater(session, entry);
    } finally {
      this.#claimsInFlight--;
      this.wake();
    }
  }

  #failed(message: string, error: unknown): void {
    if (!this.#isClosed) this.#ports.log.error({ err: error }, message);
  }
}

function queuedOf(row: ExecutionRow): QueuedExecution {
  const { execution_id, priority, queued_at, last_worker, requirements, losses, head } = row;
  const { generation, state, run_as, namespace, workflow } = row;
  return {
    execution_id,
    priority,
    queued_at,
    last_worker,
    requirements: requirements === null ? null : JSON.stringify(requirements),
    losses: losses.length > 0 ? JSON.stringify(losses) : null,
    head,
    generation,
    state,
    run_as,
    namespace,
    workflow,
  };
}

/** What groups are set aside for until it is known whose rights they have. */
function asked({ run_as }: Pick<Acting, "run_as">): string {
  return `principal ${run_as}`;
}

/** What groups are set aside for while a limit has no place for them. */
function limited(bucket: string): string {
  return `limit ${bucket}`;
}
