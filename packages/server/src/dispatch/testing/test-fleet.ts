/** Workers and executions of which the queue is asked without a server, and the plainest answer to it. */
import type { Requirements, Suspicion, WorkerResources } from "@engine/contract";
import type { QueuedExecution } from "@engine/store";
import { type Dispatchable, gate } from "../../gate/gate.ts";
import { DispatchQueue, type QueueOptions } from "../dispatch-queue.ts";
import { suspicionIn } from "../group.ts";
import { type Ask, type Match, Matching } from "../matching.ts";
import { compareQueued } from "../queue-order.ts";
import type { Rostered, RosterNews } from "../roster.ts";

/** How many suspects of the fleet's workers run beside each other. */
const MOST_APART = 2;

interface Running {
  readonly requirements: Requirements | null;
  readonly suspicion: Suspicion;
}

/** A worker that is what the test says. */
export class FleetWorker implements Rostered {
  readonly worker: string;
  isReady: boolean = true;
  takesWork: boolean = true;
  runners: Rostered["runners"] = ["thread"];
  packages: Rostered["packages"] = [];
  labels: Readonly<Record<string, string>> = {};
  metadata: Readonly<Record<string, string | number>> = {};
  metrics: Readonly<Record<string, number>> = {};
  resources: WorkerResources | null = null;
  slots: number = 0;
  readonly running: Map<string, Running> = new Map();

  constructor(worker: string, changes: Partial<FleetWorker> = {}) {
    this.worker = worker;
    Object.assign(this, changes);
  }

  get load(): number {
    return this.running.size;
  }

  get hasFreeSlot(): boolean {
    return this.slots === 0 || this.load < this.slots;
  }

  hasPlaceApart(suspicion: Suspicion): boolean {
    const others = [...this.running.values()].map((one) => one.suspicion);
    const apart = others.filter((one) => one !== "none");
    if (suspicion === "solo" || apart.includes("solo")) return apart.length === 0;
    return apart.length < MOST_APART;
  }

  *reservations(): Generator<Requirements, void, undefined> {
    for (const { requirements } of this.running.values()) if (requirements) yield requirements;
  }
}

/** A queue with its workers; every placement is compared with that of asking about all of both. */
export class TestFleet {
  readonly workers: FleetWorker[] = [];
  readonly queue: DispatchQueue;
  readonly matching: Matching<FleetWorker>;
  readonly waiting: Map<string, QueuedExecution> = new Map();
  /** Workers that the gate was asked about. */
  asked: number = 0;

  constructor(options: QueueOptions = {}) {
    this.queue = new DispatchQueue(options);
    const ask: Ask = (execution, connected, how) => gate(execution, this.#counted(connected), how);
    this.matching = new Matching<FleetWorker>({
      queue: this.queue,
      isPresent: (worker) => this.workers.includes(worker),
      firstOf: (group) => group.first,
      ask,
    });
  }

  add(queued: QueuedExecution): void {
    this.waiting.set(queued.execution_id, queued);
    this.queue.add(queued);
  }

  cancel(execution_id: string): void {
    this.waiting.delete(execution_id);
    this.queue.remove(execution_id);
  }

  join(worker: FleetWorker): void {
    this.workers.push(worker);
    this.matching.touch(worker);
  }

  leave(worker: FleetWorker): void {
    worker.isReady = false;
    this.workers.splice(this.workers.indexOf(worker), 1);
    this.matching.touch(worker);
  }

  change(worker: FleetWorker, changes: Partial<FleetWorker>, news?: RosterNews): void {
    Object.assign(worker, changes);
    this.matching.touch(worker, news);
  }

  finish(worker: FleetWorker, execution_id: string): void {
    worker.running.delete(execution_id);
    this.matching.touch(worker, "freed");
  }

  /** Gives out the next execution that a worker can have. */
  give(): Match<FleetWorker> | undefined {
    const match = this.matching.next();
    if (!match) return undefined;
    const { entry, candidate } = match;
    const { requirements } = entry.group.needs;
    this.cancel(entry.execution_id);
    candidate.running.set(entry.execution_id, { requirements, suspicion: entry.suspicion });
    this.matching.touch(candidate);
    return match;
  }

  /** What would be given out next if every group were asked about every worker (DSP-4, DSP-6). */
  expected(): { execution_id: string; worker: string; score: number | null } | undefined {
    const firsts = new Map<string, QueuedExecution>();
    for (const queued of this.waiting.values()) {
      const key = `${suspicionIn(queued) !== "none"} ${queued.requirements}`;
      const first = firsts.get(key);
      if (!first || compareQueued(queued, first) < 0) firsts.set(key, queued);
    }
    for (const queued of [...firsts.values()].sort(compareQueued)) {
      const answer = gate(wantedOf(queued), this.workers);
      if (answer.kind !== "claim") continue;
      const { candidate, score } = answer;
      return { execution_id: queued.execution_id, worker: candidate.worker, score };
    }
    return undefined;
  }

  *#counted<C>(candidates: Iterable<C>): Generator<C, void, undefined> {
    for (const candidate of candidates) {
      this.asked++;
      yield candidate;
    }
  }
}

function wantedOf(queued: QueuedExecution): Dispatchable {
  const { last_worker, losses, generation } = queued;
  const requirements =
    queued.requirements === null ? null : (JSON.parse(queued.requirements) as Requirements);
  const plain = requirements?.hidden as { readonly plain?: Dispatchable["hidden"] } | undefined;
  const of = { last_worker, was_lost: losses !== null, suspicion: suspicionIn(queued) };
  return { ...of, requirements, hidden: plain?.plain, isFresh: generation === 0 };
}

/** A waiting execution; what is not said of it is as plain as can be. */
export function queued(
  execution_id: string,
  {
    needs = null,
    ...changes
  }: Partial<QueuedExecution> & { readonly needs?: Requirements | null } = {},
): QueuedExecution {
  return {
    execution_id,
    priority: 0,
    queued_at: 0,
    last_worker: null,
    requirements: needs === null ? null : JSON.stringify(needs),
    losses: null,
    head: 1,
    generation: 0,
    state: "CREATED",
    run_as: null,
    namespace: "default",
    workflow: "hello",
    ...changes,
  };
}
