import { EngineError } from "@engine/contract";
import {
  type AdmittedSession,
  type Changed,
  type HookRow,
  type Interpose,
  interposed,
  type LimitRow,
  type OpenedSession,
  type Outbox,
  type PrincipalRow,
  type ServiceRow,
  type Store,
  type StoreCall,
  type StoreMethod,
  type WorkerRow,
} from "@engine/store";
import type { Fault } from "../evidence.ts";
import type { Rates } from "../plan.ts";
import type { Process } from "../process.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";
import type { CommitRecord, RegisteredVersions } from "./commit-record.ts";
import type { Room } from "./room.ts";
import { SeenOutbox } from "./seen-outbox.ts";

export interface StoreFaults {
  readonly random: Random;
  readonly rates: Rates;
  readonly isRough: () => boolean;
  readonly note: (fault: Fault) => void;
}

/** When a write was asked for, and by which clock. */
interface Asked {
  readonly server: string;
  readonly asked_at: number;
  readonly clock: number;
}

interface Job {
  readonly name: StoreMethod;
  readonly kind: "write" | "commit";
  readonly call: StoreCall;
  readonly args: readonly unknown[];
  readonly asked: Asked;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface FaultyStoreParts {
  readonly store: Store;
  readonly world: World;
  /** The server that sees it: when it dies, nothing is answered any more. */
  readonly server: Process;
  /** Of a database elsewhere; without one the store is the server's own, in its process. */
  readonly room: Room | undefined;
  /** Its work takes real time: it is done while nothing else goes on. */
  readonly isReal: boolean;
  readonly faults: StoreFaults;
  readonly record: CommitRecord;
}

/**
 * The store as one server sees it: with time between question and answer, with transactions that fail,
 * and with some that were committed although their answer says otherwise.
 */
export function faultyStore(parts: FaultyStoreParts): Store {
  const access = new Access(parts);
  const { store, server, room } = parts;
  const ofRoom: Partial<Record<StoreMethod, (...args: never[]) => unknown>> = room
    ? {
        "replicas.announce": async (message: string) => {
          if (server.isAlive) room.announce(server, message);
        },
        "replicas.onAnnounced": async (listener: (message: string | undefined) => void) =>
          room.listen(server, listener),
        "replicas.lead": (name: string) => access.ask(async () => room.lead(server, name)),
        "replicas.note": (replica: string) =>
          access.ask(async () => room.note(replica, await store.epochs.read())),
        "replicas.remove": (replica: string) => access.ask(async () => room.remove(replica)),
      }
    : {};
  const seen = interposed(
    store,
    (method, call) => (ofRoom[method.name] as StoreCall | undefined) ?? access.asked(method, call),
  );
  return { ...seen, outbox: access.outbox };
}

class Access {
  readonly #parts: FaultyStoreParts;
  readonly #outbox: SeenOutbox;
  readonly #random: Record<"delay" | "slow" | "error" | "unknown", Random>;
  #queue: Job[] = [];
  #isFlushing = false;

  constructor(parts: FaultyStoreParts) {
    this.#parts = parts;
    const { store, room } = parts;
    this.#outbox = new SeenOutbox({ store, ask: room && ((question) => this.ask(question)) });
    const { random } = parts.faults;
    this.#random = {
      delay: random.fork("delay"),
      slow: random.fork("slow"),
      error: random.fork("error"),
      unknown: random.fork("unknown"),
    };
  }

  get outbox(): Outbox {
    return this.#outbox.outbox;
  }

  /** What its kind says comes back in the time of the run: else a seed would not give the same one. */
  readonly asked: Interpose = ({ name, kind }, call) => {
    if (!call) return undefined;
    if (kind === "write" || kind === "commit") {
      return (...args) => this.#write({ name, kind, call, args });
    }
    // In its own process a read is answered at once, as every settled write is in it.
    const isElsewhere = kind === "read" && this.#parts.room !== undefined;
    return isElsewhere ? (...args) => this.ask(async () => call(...args)) : undefined;
  };

  /** Something that is asked of a database elsewhere. */
  ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    const { server, world } = this.#parts;
    return new Promise((resolve, reject) => {
      world.after(server.time.ahead + this.#delay(), () => {
        if (!server.isAlive) return;
        if (this.#happens("error", this.#parts.faults.rates.store_error)) {
          // Who could not read looks again some time later: until then the engine is not at rest.
          this.#noteError();
          server.after(this.#delay(), () => reject(away()));
          return;
        }
        this.#work(question).then(
          (answer) => server.after(this.#delay(), () => resolve(answer)),
          (error: unknown) => server.after(this.#delay(), () => reject(error)),
        );
      });
    });
  }

  #write(job: Omit<Job, "asked" | "resolve" | "reject">): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { server } = this.#parts;
      const asked_at = Math.floor(server.time.reached);
      const asked = { server: server.name, asked_at, clock: server.time.peek() };
      this.#queue.push({ ...job, asked, resolve, reject });
      this.#schedule();
    });
  }

  #noteError(): void {
    const { faults, world, server } = this.#parts;
    const of = { worker: null, server: server.name };
    faults.note({ kind: "store_error", at: world.now, until: null, ...of });
  }

  /** One transaction at a time, which takes all that is queued by then. */
  #schedule(): void {
    if (this.#isFlushing || this.#queue.length === 0) return;
    this.#isFlushing = true;
    const { world, server, room } = this.#parts;
    world.after(server.time.ahead + this.#delay(), () => {
      // What a process had not handed over died with it; a database may have got it just before.
      const isSent = server.isAlive || (room !== undefined && this.#random.error.chance(0.3));
      if (!isSent) return;
      if (server.isAlive && server.isStill) server.after(0, () => void this.#flush());
      else void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const { world, server, faults } = this.#parts;
    const { rates } = faults;
    const jobs = this.#queue;
    this.#queue = [];
    const who = { until: null, at: world.now, worker: null, server: server.name };
    if (this.#happens("error", rates.store_error)) {
      this.#noteError();
      world.trace.say(server.name, () => `cannot write: ${namesOf(jobs)}`);
      server.after(this.#delay(), () => {
        for (const { reject } of jobs) reject(away());
        this.#over();
      });
      return;
    }
    const isUnknown = this.#happens("unknown", rates.store_unknown);
    await this.#outbox.untilMasked();
    const noticed = this.#outbox.begin();
    const settled = await this.#work(() => this.#doAll(jobs));
    const hooks = noticed();
    if (isUnknown) {
      faults.note({ kind: "store_unknown", ...who });
      world.trace.say(server.name, () => `has written, and does not know: ${namesOf(jobs)}`);
    }
    server.after(this.#delay(), () => {
      for (const [i, { resolve, reject }] of jobs.entries()) {
        const result = settled[i];
        if (isUnknown) reject(away());
        else if (result?.status === "fulfilled") resolve(result.value);
        else reject(result?.reason);
      }
      if (!isUnknown && hooks.length > 0) this.#outbox.tell(hooks);
      this.#over();
    });
  }

  /** Together; where the store's work takes real time, so that its order does not depend on that. */
  async #doAll(jobs: readonly Job[]): Promise<readonly PromiseSettledResult<unknown>[]> {
    const settled: PromiseSettledResult<unknown>[] = [];
    for (const together of this.#parts.isReal ? commitsTogether(jobs) : [jobs]) {
      settled.push(...(await Promise.allSettled(together.map((job) => this.#do(job)))));
    }
    return settled;
  }

  async #do({ name, kind, call, args, asked }: Job): Promise<unknown> {
    const { record, world, server } = this.#parts;
    const began = record.moment();
    const value = await call(...args);
    if (kind === "commit") {
      const changed = value as Changed;
      const isWritten = !changed.existing && !changed.unchanged;
      if (isWritten) record.add({ ...asked, began, decided_clock: server.time.peek() }, changed);
    }
    const opened = openedBy(name, value);
    if (opened) record.sessions.set(opened.session.token_hash, opened.session.session_id);
    if (CHANGES_PRINCIPALS.has(name) && value) record.principal(value as PrincipalRow);
    if (name === "workers.changeAttributes" && value) record.described(value as WorkerRow, began);
    if (name === "limits.set") record.defined(args[0] as string, value as LimitRow, began);
    if (name === "limits.delete" && value) record.defined(args[0] as string, undefined, began);
    if (name === "hooks.create" || name === "hooks.change") {
      // One that is not there, or was changed meanwhile, stays as it is.
      if (typeof value === "object") record.hooked(value as HookRow, began);
    }
    if (name === "hooks.delete" && value !== undefined) record.unhooked(args[0] as string, began);
    if (name === "deliveries.retry" || name === "deliveries.retryMany") record.handedBack();
    if (name === "workers.desire" && value) record.desired(value as WorkerRow);
    if (CHANGES_SERVICE.has(name) && value) record.service(server.id, value as ServiceRow);
    if (name === "services.delete" && value) record.service(server.id, undefined);
    if (name === "catalog.register") {
      record.registered(server.id, value as RegisteredVersions);
    }
    if (name === "catalog.delete") {
      const [namespace, workflow] = args as [string, string];
      const of = { namespace, name: workflow };
      record.unregistered(server.id, of, value as readonly number[]);
    }
    if (name === "retention.deleteFinished") {
      const [before] = args as [number];
      for (const execution_id of value as readonly string[]) {
        record.deleted({ at: world.now, execution_id, before });
      }
    }
    return value;
  }

  #work<Value>(work: () => Promise<Value>): Promise<Value> {
    const { world, isReal } = this.#parts;
    return isReal ? world.outside(work) : world.during(work());
  }

  #over(): void {
    this.#isFlushing = false;
    this.#schedule();
  }

  #delay(): number {
    const base = this.#random.delay.between(0.05, 1);
    if (!this.#happens("slow", this.#parts.faults.rates.store_slow)) return base;
    return base + this.#random.slow.between(5, 1_500);
  }

  #happens(kind: "slow" | "error" | "unknown", rate: number): boolean {
    return this.#random[kind].chance(rate) && this.#parts.faults.isRough();
  }
}

/** Changes of executions go together, as they are group commits; everything else goes by itself. */
function commitsTogether(jobs: readonly Job[]): readonly (readonly Job[])[] {
  const groups: Job[][] = [];
  for (const job of jobs) {
    const last = groups.at(-1);
    if (job.kind === "commit" && last?.[0]?.kind === "commit") last.push(job);
    else groups.push([job]);
  }
  return groups;
}

const CHANGES_PRINCIPALS: ReadonlySet<StoreMethod> = new Set([
  "principals.change",
  "principals.grantRole",
  "principals.revokeRole",
]);

const CHANGES_SERVICE: ReadonlySet<StoreMethod> = new Set(["services.create", "services.change"]);

function openedBy(name: StoreMethod, value: unknown): OpenedSession | undefined {
  if (name === "sessions.open") return value as OpenedSession;
  return name === "sessions.admit" ? (value as AdmittedSession).opened : undefined;
}

function namesOf(jobs: readonly Job[]): string {
  return jobs.map(({ name }) => name).join(", ");
}

function away(): EngineError {
  return new EngineError("unavailable", "the database is away");
}
