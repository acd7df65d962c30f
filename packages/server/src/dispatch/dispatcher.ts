import {
  decideClaim,
  EngineError,
  type ExecutionRow,
  type Holding,
  isQueued,
  type NewExecution,
  type Requirements,
  type Suspicion,
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
import { lacks } from "../gate/fits.ts";
import { type Dispatchable, gate } from "../gate/gate.ts";
import type { ProgressHub } from "../progress/progress-hub.ts";
import { isRefusal } from "../refusal.ts";
import type { RowNews } from "../replicas/bus-message.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { HandOvers } from "../workers/hand-over.ts";
import type { Claiming } from "../workers/holdings.ts";
import type { Session } from "../workers/session.ts";
import type { SessionLookup } from "../workers/session-lookup.ts";
import type { Sessions } from "../workers/sessions.ts";
import { Assigner, type AssignerParts } from "./assigner.ts";
import {
  compareQueued,
  DispatchQueue,
  dispatchable,
  type Entry,
  type Group,
} from "./dispatch-queue.ts";
import { type Outlook, outlookOf } from "./outlook.ts";
import { QueueReader } from "./queue-reader.ts";
import { WAIT_WORDS } from "./wait-words.ts";

interface Parts {
  readonly ports: InnerPorts;
  readonly commits: Commits;
  readonly sessions: Sessions;
  readonly catalog: Catalog;
  readonly progress: ProgressHub;
  readonly replicas: Pick<Replicas, "isLive" | "me">;
  readonly lookup: Pick<SessionLookup, "lookAgain">;
  readonly handOvers: Pick<HandOvers, "unsure" | "one">;
  readonly runAs: RunAs;
  readonly tokens: AssignerParts["tokens"];
}

/** Of an execution that no worker has lost. */
const UNSUSPECTED = { was_lost: false, suspicion: "none" } as const;
/** After so many executions in a row that are left to other servers, the rest of their group waits too. */
const MOST_LEFT = 64;
/** How long the server of a preferred worker has to take an execution first (DSP-6). */
const OTHERS_MS = 200;
/** How long after a failed claim the next is tried. */
const RETRY_MS = 1_000;

/**
 * Gives executions to workers. It looks when something happened (a new row, a resume, a freed slot, a
 * connection, a hand-over) and asks the store only then; {@link refresh} is the safety net.
 */
export class Dispatcher implements Domain {
  readonly #parts: Parts;
  readonly #ports: InnerPorts;
  readonly #queue = new DispatchQueue();
  readonly #reader: QueueReader;
  readonly #assigner: Assigner;
  /** Executions left to the server of a preferred worker: until when, by the clock that nobody sets. */
  readonly #leftToOthers = new Map<string, number>();
  /** Principals that are asked about. */
  readonly #asking = new Set<string>();
  #claimsInFlight = 0;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ports = parts.ports;
    const { store } = parts.ports;
    this.#reader = new QueueReader({ store, queue: this.#queue, onRead: () => this.wake() });
    const failed = (message: string, error: unknown) => this.#failed(message, error);
    this.#assigner = new Assigner({ ...parts, failed });
    parts.sessions.onRoom(() => this.wake());
    parts.runAs.onChange(() => void this.#lookAtHeld());
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
    const isFree = !fresh.fork?.history.length && !this.#isCrowded(requirements);
    const isDue = not_before === null || not_before <= now;
    // Also while nobody can say whether it may run: it waits in the queue until that is known.
    const isHeld = this.#parts.runAs.standing(acting)?.isFree !== true;
    const wanted = { ...UNSUSPECTED, last_worker: preferred_worker, requirements, isHeld };
    const isHere = isFree && isDue && !this.#hangsElsewhere(wanted);
    const session = isHere ? this.#choose(wanted) : undefined;
    const { commits } = this.#parts;
    if (!session) return (await commits.create(fresh)).changed;
    const { worker, id, guard } = session;
    const claimant = { worker, session: id, epoch: guard.epoch, now };
    const commit = commits.create(fresh, claimant);
    try {
      const { changed, wrote } = await this.#during(session, fresh, commit);
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
      const wanted = { ...UNSUSPECTED, last_worker: session.worker };
      const beside = session.beside(execution_id);
      return gate({ ...wanted, requirements: row.requirements }, [beside]).kind === "claim";
    };
    try {
      if (this.#parts.runAs.isOn) {
        const row = await this.#ports.store.executions.find(execution_id);
        if (row) await this.#parts.runAs.know(row);
      }
      const { changed, wrote } = await this.#claim(session, { execution_id, guard }, isStillMeant);
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
      const next = this.#next();
      if (!next) break;
      this.#queue.remove(next.entry.execution_id);
      void this.#dispatch(next.session, next.entry);
    }
    if (this.#reader.hasRunDry) this.#read();
  }

  /** Looks for waiting rows in the store: at the start, and for what a wake-up missed. */
  async refresh(): Promise<void> {
    await this.#reader.refresh();
    if (this.#parts.runAs.isOn) await this.#lookAtHeld();
  }

  /** Why an execution has no worker now, as the gate sees it (DSP-8). */
  waitsFor(row: ExecutionRow): WaitsFor {
    const { last_worker, requirements, losses } = row;
    const suspicion = suspicionOf(losses);
    // What was known when it was set aside still says why it waits.
    const isHeld = this.#queue.isHeld(row.execution_id) || this.#isHeld(row);
    const wanted = { last_worker, requirements, suspicion, was_lost: losses.length > 0, isHeld };
    const answer = gate(wanted, this.#everywhere());
    const code = answer.kind === "wait" ? answer.reason : "workers_full";
    return { code, message: WAIT_WORDS[code](requirements) };
  }

  /** What the gate makes of an execution now, over all connected workers (WHY-1). */
  async outlook(row: ExecutionRow): Promise<Outlook> {
    if (this.#parts.runAs.isOn) await this.#parts.runAs.know(row);
    const { last_worker, requirements, losses, execution_id } = row;
    const suspicion = suspicionOf(losses);
    const isHeld = this.#queue.isHeld(execution_id) || this.#isHeld(row);
    const wanted = { last_worker, requirements, suspicion, was_lost: losses.length > 0, isHeld };
    return outlookOf(wanted, [...this.#everywhere()], this.#queue.ahead(execution_id));
  }

  /** What a fresh execution with these requirements would find, over all connected workers (RTE-6). */
  prospects(requirements: Requirements | null): Outlook {
    const wanted = { ...UNSUSPECTED, last_worker: null, requirements };
    return outlookOf(wanted, [...this.#everywhere()], 0);
  }

  /** Whether a connected worker could have an execution, even if it is full or paused now (EXE-17 row 14). */
  isMatched({ requirements }: ExecutionRow): boolean {
    const { sessions, replicas } = this.#parts;
    for (const session of sessions.connected(replicas)) {
      if (lacks(requirements, session) === undefined) return true;
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

  /** The first execution that a worker of this server can have now, with that worker. */
  #next(): { readonly entry: Entry; readonly session: Session } | undefined {
    let next: { readonly entry: Entry; readonly session: Session } | undefined;
    if (this.#queue.size === 0 || !this.#hasRoom()) return undefined;
    for (const group of this.#queue.groups()) {
      const entry = this.#firstOf(group);
      if (!entry || (next && compareQueued(next.entry, entry) < 0)) continue;
      const session = this.#choose(dispatchable(entry));
      if (session) next = { entry, session };
    }
    return next;
  }

  #firstOf(group: Group): Entry | undefined {
    const { runAs } = this.#parts;
    let left = 0;
    for (const entry of group) {
      if (runAs.isOn) {
        const standing = runAs.standing(entry);
        if (standing === undefined) {
          this.#ask(entry);
          return undefined;
        }
        if (!standing.isFree) {
          this.#queue.hold(group, (one) => runAs.standing(one)?.isFree === false);
          return this.#firstOf(group);
        }
      }
      if (!this.#isLeft(entry, dispatchable(entry))) return entry;
      // Their time is short: executions behind so many wait it out with them.
      if (++left === MOST_LEFT) break;
    }
    return undefined;
  }

  /** Whether it is known that the principal of an execution may not run it now. */
  #isHeld(acting: Acting): boolean {
    return this.#parts.runAs.standing(acting)?.isFree === false;
  }

  /** Asks for whom executions wait, and gives them out once that is known. */
  #ask({ run_as }: Acting): void {
    if (run_as === null || this.#asking.has(run_as)) return;
    this.#asking.add(run_as);
    const asked = () => {
      this.#asking.delete(run_as);
      this.wake();
    };
    this.#parts.runAs.know({ run_as }).then(asked, (error: unknown) => {
      this.#ports.log.debug({ err: error }, "could not look up whose rights an execution has");
      this.#ports.setTimer(asked, RETRY_MS);
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
  #isCrowded(requirements: Requirements | null): boolean {
    if (this.#isClosed || !this.#reader.isComplete) return true;
    if (this.#queue.size === 0) return false;
    const key = requirements === null ? null : JSON.stringify(requirements);
    for (const group of this.#queue.groups()) {
      if (group.size === 0) return true;
      // A free worker goes to an execution that has waited for it, whatever else that one needs.
      const first = this.#firstOf(group);
      const needsTheSame = group.key === key && !group.isApart;
      if (first && (needsTheSame || this.#choose(dispatchable(first)))) return true;
    }
    return false;
  }

  #hasReady(): boolean {
    for (const session of this.#parts.sessions.all()) if (session.isReady) return true;
    return false;
  }

  #hasRoom(): boolean {
    for (const { isReady, takesWork, hasFreeSlot } of this.#parts.sessions.all()) {
      if (isReady && takesWork && hasFreeSlot) return true;
    }
    return false;
  }

  #choose(wanted: Dispatchable): Session | undefined {
    const answer = gate(wanted, this.#here());
    return answer.kind === "claim" ? answer.candidate : undefined;
  }

  *#here(): Generator<Session, void, undefined> {
    for (const session of this.#parts.sessions.all()) {
      if (session.isReady) yield session;
    }
  }

  /** All connected workers. The load of those on other servers is not known. */
  *#everywhere(): Generator<Session, void, undefined> {
    for (const session of this.#parts.sessions.all()) {
      if (session.isReady || this.#isElsewhere(session)) yield session;
    }
  }

  #isElsewhere({ isHeld, row, ended }: Session): boolean {
    const { replica, disconnected_at } = row;
    if (isHeld || ended || replica === null || disconnected_at !== null) return false;
    return replica !== this.#parts.replicas.me && this.#parts.replicas.isLive(replica);
  }

  /** Whether the worker that is asked first is connected to another server, which may have room on it. */
  #hangsElsewhere({ last_worker, was_lost, requirements }: Dispatchable): boolean {
    const { worker, prefers } = requirements ?? {};
    const inOrder = worker === undefined ? [was_lost ? null : last_worker, prefers] : [worker];
    for (const name of inOrder) {
      const session = name ? this.#parts.sessions.findByWorker(name) : undefined;
      if (!session?.takesWork) continue;
      if (this.#isElsewhere(session)) return true;
      if (session.isReady && session.hasFreeSlot) return false;
    }
    return false;
  }

  /** Whether an execution is still left to the server of its preferred worker. */
  #isLeft({ execution_id }: Entry, wanted: Dispatchable): boolean {
    const until = this.#leftToOthers.get(execution_id);
    if (until !== undefined) return this.#ports.monotonic() < until;
    if (!this.#hangsElsewhere(wanted)) return false;
    this.#leftToOthers.set(execution_id, this.#ports.monotonic() + OTHERS_MS);
    this.#ports.setTimer(() => this.wake(), OTHERS_MS);
    return true;
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
    this.#leftToOthers.delete(execution_id);
  }

  async #dispatch(session: Session, entry: Entry): Promise<void> {
    this.#claimsInFlight++;
    try {
      const { execution_id, suspicion, group } = entry;
      const wanted = { execution_id, suspicion, requirements: group.requirements };
      const isStillMeant = (row: ExecutionRow) => session.isReady && !this.#isHeld(row);
      const { changed, wrote } = await this.#claim(session, wanted, isStillMeant);
      this.#leftToOthers.delete(entry.execution_id);
      if (wrote) this.#assigner.send(session, changed);
      // It still waits, so no other claim was faster: the session must have changed in the store. Until
      // that is read, the same worker would be chosen again and again.
      else if (isQueued(changed.row)) {
        if (session.isReady && !this.#isHeld(changed.row))
          await this.#parts.lookup.lookAgain(session);
        this.#queue.add(queuedOf(changed.row));
      }
    } catch (error) {
      this.#failed(`could not claim execution ${entry.execution_id}`, error);
      this.#enqueueLater(session, entry);
    } finally {
      this.#claimsInFlight--;
      this.wake();
    }
  }

  async #claim(
    session: Session,
    wanted: {
      readonly execution_id: string;
      readonly requirements?: Requirements | null;
      readonly suspicion?: Suspicion;
      readonly guard?: SessionGuard;
    },
    isStillMeant: (row: ExecutionRow) => boolean,
  ): Promise<{ changed: Changed; wrote: boolean }> {
    const { worker, id } = session;
    const { execution_id, requirements = null, suspicion, guard = session.guard } = wanted;
    const commit = this.#parts.commits.change(
      execution_id,
      (row) => {
        if (!isStillMeant(row)) return undefined;
        return decideClaim(row, { worker, session: id, now: this.#ports.clock() });
      },
      // The owner gets the claim itself with the assignment, or with the answer to a reconnect.
      { ownerHas: () => 1, guard: { ...guard, active: true } },
    );
    const of = { execution_id, requirements, suspicion };
    // An earlier claim whose answer was lost may have been committed: then the session has the execution
    // by that one, of which nobody here knows.
    return this.#during(session, of, commit, ({ changed: { row }, wrote }) => {
      return wrote || row.session !== id || session.holdings.owns(row);
    });
  }

  /** Lets a claim under way take a slot, also while it is not known whether it was committed. */
  async #during<Done>(
    session: Session,
    of: {
      readonly execution_id: string;
      readonly requirements?: Requirements | null | undefined;
      readonly suspicion?: Suspicion | undefined;
    },
    commit: Promise<Done>,
    isKnown: (done: Done) => boolean = () => true,
  ): Promise<Done> {
    const { execution_id, requirements = null, suspicion = "none" } = of;
    const { claiming } = session.holdings;
    const claim: Claiming = { done: commit, requirements, suspicion };
    const settle = (known: boolean) => {
      // The claim keeps its slot until it is known what became of it.
      if (!known)
        void this.#parts.handOvers.unsure(session, execution_id, claim).then(() => this.wake());
      // The queue, read again, may have brought the execution once more: then a newer claim has the slot.
      else if (claiming.get(execution_id) === claim) claiming.delete(execution_id);
    };
    claiming.set(execution_id, claim);
    try {
      const done = await commit;
      settle(isKnown(done));
      return done;
    } catch (error) {
      settle(isRefusal(error));
      throw error;
    }
  }

  #failed(message: string, error: unknown): void {
    if (!this.#isClosed) this.#ports.log.error({ err: error }, message);
  }
}

function queuedOf(row: ExecutionRow): QueuedExecution {
  const { execution_id, priority, queued_at, last_worker, requirements, losses, head } = row;
  const { run_as, namespace, workflow } = row;
  return {
    execution_id,
    priority,
    queued_at,
    last_worker,
    requirements: requirements === null ? null : JSON.stringify(requirements),
    losses: losses.length > 0 ? JSON.stringify(losses) : null,
    head,
    run_as,
    namespace,
    workflow,
  };
}
