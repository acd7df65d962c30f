import { type ExecutionRow, isTerminal } from "@engine/contract";
import type {
  Changed,
  HeldAttributes,
  HookRow,
  LimitRow,
  PrincipalRow,
  ServiceRow,
  Store,
  WorkerRow,
} from "@engine/store";
import { ACCOUNT_ROLE } from "../accounts.ts";
import type {
  Commit,
  Deletion,
  HookWritten,
  LimitDefined,
  OfferChange,
  PrincipalChange,
  WorkerDescribed,
} from "../evidence.ts";
import type { World } from "../world.ts";

/** What a registration was answered. */
export type RegisteredVersions = Awaited<ReturnType<Store["catalog"]["register"]>>;

type By = Pick<Commit, "server" | "clock" | "decided_clock" | "asked_at">;

/** What became durable, also where nobody was told. */
export class CommitRecord {
  readonly commits: Commit[] = [];
  readonly deletions: Deletion[] = [];
  readonly principals: PrincipalChange[] = [];
  readonly offers: OfferChange[] = [];
  readonly descriptions: WorkerDescribed[] = [];
  readonly limits: LimitDefined[] = [];
  readonly hooks: HookWritten[] = [];
  /** Every session that was ever opened, by the hashes of the secrets it was known under. */
  readonly sessions: Map<string, string> = new Map();
  /** Executions that have not ended, as they were committed last. */
  readonly open: Map<string, ExecutionRow> = new Map();
  /** Workers that operators want to do nothing, as it was written last. */
  readonly shut: Set<string> = new Set();
  /** When dead deliveries were handed back last. */
  handedBackAt: number | null = null;
  /** When something became durable last. */
  lastAt: number;
  readonly #world: World;
  /** Live versions of workflows, the latest last. */
  readonly #live = new Map<string, readonly number[]>();
  #transactions = 0;
  #moments = 0;
  readonly #held = new Map<string, HeldAttributes>();

  constructor(world: World) {
    this.#world = world;
    this.lastAt = world.now;
  }

  /** Moments only order what happens in the store: time may stand still meanwhile. */
  moment(): number {
    return ++this.#moments;
  }

  add(by: By & { readonly began: number }, changed: Changed): void {
    const { began, ...asked } = by;
    const span = { began, settled: this.moment() };
    const transaction = ++this.#transactions;
    const at = this.#world.now;
    this.lastAt = at;
    for (const { row, events } of [changed, ...changed.others]) {
      const { execution_id } = row;
      if (isTerminal(row.state)) this.open.delete(execution_id);
      else this.open.set(execution_id, row);
      this.commits.push({ at, ...asked, span, transaction, execution_id, row, events });
      this.#world.trace.say(by.server, () => {
        const { trace } = this.#world;
        const types = events.map((e) => `${e.seq} ${e.type} ${e.name ?? ""}`).join(", ");
        const held =
          row.session === null ? "nobody" : `${row.worker}, generation ${row.generation}`;
        return `commits ${trace.name(execution_id)} → ${row.state}, of ${held}: ${types || "only its row"}`;
      });
    }
  }

  /** A principal as a change of it has left it. */
  principal({ id, subject, enabled, banned, roles }: PrincipalRow): void {
    const hasRole = roles.includes(ACCOUNT_ROLE);
    const at = this.#world.now;
    this.principals.push({ at, principal: id, enabled, banned, has_role: hasRole });
    this.#world.trace.say("world", () => {
      const state = enabled ? "is enabled" : banned ? "is banned" : "is disabled";
      return `${subject} ${state}${hasRole ? "" : " and has no role"}`;
    });
  }

  /** A worker as a write of what operators say of it has left it. */
  described({ name, attributes }: WorkerRow, began: number): void {
    const at = this.#world.now;
    // What was parked may begin.
    this.lastAt = at;
    const span = { began, settled: this.moment() };
    this.descriptions.push({ at, span, worker: name, ...attributes });
    const before = this.#held.get(name);
    if (!before || before.revision < attributes.revision) this.#held.set(name, attributes);
    this.#world.trace.say("world", () => {
      const { metadata, granted, revision } = attributes;
      return `${name} is ${JSON.stringify(metadata)}, granted ${granted.join(", ") || "nothing"}, revision ${revision}`;
    });
  }

  /** What operators allow under a name as a write has left it; undefined where that allows nothing. */
  defined(name: string, row: LimitRow | undefined, began: number): void {
    const at = this.#world.now;
    // What waits may begin.
    this.lastAt = at;
    const span = { began, settled: this.moment() };
    const definition = row ? { concurrency: row.concurrency, rate: row.rate } : null;
    this.limits.push({ at, span, name, definition });
    this.#world.trace.say("world", () => `limit ${name} is ${JSON.stringify(definition)}`);
  }

  /** A hook as a write has left it. */
  hooked(row: HookRow, began: number): void {
    this.#hook({ hook_id: row.id, name: row.name, row }, began);
  }

  /** Whatever hook had the name is gone. */
  unhooked(name: string, began: number): void {
    const hook_id = this.hooks.findLast((hook) => hook.name === name)?.hook_id;
    if (hook_id !== undefined) this.#hook({ hook_id, name, row: null }, began);
  }

  handedBack(): void {
    this.handedBackAt = this.#world.now;
  }

  #hook(written: Pick<HookWritten, "hook_id" | "name" | "row">, began: number): void {
    const at = this.#world.now;
    const span = { began, settled: this.moment() };
    this.hooks.push({ at, span, ...written });
    this.#world.trace.say("world", () => {
      const { name, row } = written;
      if (!row) return `hook ${name} is gone`;
      const { enabled, selectors, workflow, principal, revision } = row;
      const what = `${selectors.join(" or ")} → ${workflow} as ${principal}`;
      return `hook ${name} is ${enabled ? "on" : "off"}: ${what}, revision ${revision}`;
    });
  }

  /** What operators have said of a worker. */
  held(worker: string): Pick<HeldAttributes, "metadata" | "granted"> {
    return this.#held.get(worker) ?? { metadata: {}, granted: [] };
  }

  /** A worker as a write of what operators want it to do has left it. */
  desired({ name, desired_state }: WorkerRow): void {
    if (desired_state === "active") this.shut.delete(name);
    else this.shut.add(name);
    this.#world.trace.say("world", () => `${name} is to be ${desired_state}`);
  }

  /** The service as a change of it has left it; undefined where it is gone. */
  service(process: string, row: ServiceRow | undefined): void {
    const choice = row ? choiceOf(row) : null;
    this.offers.push({ at: this.#world.now, process, kind: "service", choice });
    this.#world.trace.say("world", () => {
      if (!choice) return "the service is gone";
      return `the service excludes ${choice.exclusions.join(", ") || "nothing"}`;
    });
  }

  /** @param process Null: before any server began. */
  registered(process: string | null, versions: RegisteredVersions): void {
    for (const { namespace, name, version, created } of versions) {
      if (created) this.#workflow(process, { namespace, name }, (live) => [...live, version]);
    }
  }

  unregistered(
    process: string,
    workflow: { readonly namespace: string; readonly name: string },
    versions: readonly number[],
  ): void {
    if (versions.length === 0) return;
    this.#workflow(process, workflow, (live) => live.filter((one) => !versions.includes(one)));
  }

  #workflow(
    process: string | null,
    { namespace, name }: { readonly namespace: string; readonly name: string },
    change: (live: readonly number[]) => readonly number[],
  ): void {
    const ref = `${namespace}/${name}`;
    const live = change(this.#live.get(ref) ?? []);
    this.#live.set(ref, live);
    const latest = live.at(-1) ?? null;
    const at = this.#world.now;
    this.offers.push({ at, process, kind: "workflow", namespace, name, latest });
    this.#world.trace.say("world", () => `${ref} ${latest === null ? "is gone" : `is v${latest}`}`);
  }

  deleted(deletion: Deletion): void {
    this.deletions.push(deletion);
    this.open.delete(deletion.execution_id);
  }
}

function choiceOf({ namespaces, workflows, exclusions }: ServiceRow) {
  return { namespaces, workflows, exclusions };
}
