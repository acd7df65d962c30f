import {
  type Assignment,
  type Metadata,
  type WorkerRegistration,
  withGrants,
  withMetadata,
  withoutGrant,
} from "@engine/contract";
import { settled } from "../../testing/manual-time.ts";
import type { ScriptedWorker } from "../../testing/scripted-worker.ts";
import { TestEngine } from "../../testing/start-engine.ts";
import {
  type Constraint,
  FIT_ATTRIBUTES,
  PICKY_INPUT,
  PICKY_ROUTING_INPUT,
  sourceOf,
  UNFIT_ATTRIBUTES,
} from "./constraints.ts";
import { Member, type Mode } from "./member.ts";

type Act = (worker: ScriptedWorker, assigned: Assignment) => Promise<unknown>;

const GIB = 2 ** 30;
const MS_BETWEEN_BEATS = 10_000;

/** Passes every check. */
const FIT: Partial<WorkerRegistration> = {
  labels: FIT_ATTRIBUTES.labels,
  services: FIT_ATTRIBUTES.services,
  runners: ["process"],
  default_runner: "process",
  resources: withMemory(16 * GIB),
};

/** Lacks what the constraints ask for, whatever room it has. */
const UNFIT: Partial<WorkerRegistration> = {
  labels: UNFIT_ATTRIBUTES.labels,
  services: UNFIT_ATTRIBUTES.services,
  runners: ["thread", "inline"],
  default_runner: "thread",
  resources: withMemory(GIB),
};

function withMemory(memory: number): NonNullable<WorkerRegistration["resources"]> {
  const rest = { cpu_total: 8, cpu_available: 8, disk_total: 1, disk_free: 1, gpus: [] };
  return { ...rest, memory_total: memory, memory_available: memory };
}

/**
 * A server with two workers: `original`, the only one that may have executions of `picky`, and
 * `unfit`, which has room for everything but lacks what they need.
 */
export class Stage implements AsyncDisposable {
  readonly t: TestEngine;
  readonly constraint: Constraint;
  readonly #mode: Mode;
  readonly #members: Member[] = [];
  #processes = 0;

  private constructor(t: TestEngine, constraint: Constraint, mode: Mode) {
    this.t = t;
    this.constraint = constraint;
    this.#mode = mode;
  }

  /** @param inputAt Where the input of `picky` has what constraints read of it. */
  static async set(constraint: Constraint, mode: Mode, inputAt?: string): Promise<Stage> {
    const t = await TestEngine.start();
    await t.engine.catalog.register({ source: sourceOf(constraint, inputAt) }, { by: null });
    const stage = new Stage(t, constraint, mode);
    await stage.join("original");
    await stage.join("unfit", UNFIT);
    await stage.describe("unfit", UNFIT_ATTRIBUTES.metadata);
    return stage;
  }

  /** The process that has that name now. */
  member(name: string): Member {
    const member = this.#members.findLast(({ worker }) => worker.name === name);
    if (!member) throw new Error(`nobody is called ${name}`);
    return member;
  }

  /** A new process takes the name; with nothing said of it, it passes every check. */
  async join(name: string, attributes: Partial<WorkerRegistration> = FIT): Promise<void> {
    // Where memory is asked for, it is what runs out, not the slots.
    const slots = name === "unfit" ? 64 : this.constraint === "requests" ? 2 : 1;
    const instance_id = `01900000-0000-7000-8000-${String(++this.#processes).padStart(12, "0")}`;
    const registration = { ...attributes, name, slots, instance_id };
    const member = await Member.join(this.t, this.#mode, registration);
    // The process that had the name has heard that it stops.
    this.#members.findLast(({ worker }) => worker.name === name)?.die();
    this.#members.push(member);
    // Of the name, not of the process: whoever takes it over has them.
    if (attributes === FIT) await this.describe(name, FIT_ATTRIBUTES.metadata);
    if (attributes === FIT) await this.grant(name);
  }

  /** What operators say of a name from now on. */
  async describe(name: string, metadata: Metadata): Promise<void> {
    await this.t.engine.attributes.change(name, withMetadata({ metadata, replace: true }));
    await settled();
  }

  /** Operators grant a name what it offers. */
  async grant(name: string): Promise<void> {
    await this.t.engine.attributes.change(name, withGrants(FIT_ATTRIBUTES.services));
    await settled();
  }

  async revoke(name: string): Promise<void> {
    for (const service of FIT_ATTRIBUTES.services) {
      await this.t.engine.attributes.change(name, withoutGrant(service));
    }
    await settled();
  }

  /** Another process of the name, that lacks what the constraints ask for and has other labels. */
  joinUnfit(name: string): Promise<void> {
    return this.join(name, UNFIT);
  }

  /** A fresh execution of a workflow; `picky` with its constraint. */
  async start(workflow: "picky" | "filler" | "errand"): Promise<string> {
    const isForOriginal =
      workflow === "filler" || (workflow === "picky" && this.constraint === "required worker");
    const { row } = await this.t.engine.executions.start({
      namespace: "default",
      workflow,
      input: workflow === "picky" ? PICKY_INPUT : null,
      routing_input: workflow === "picky" ? PICKY_ROUTING_INPUT : undefined,
      trigger: { kind: "api" },
      by: null,
      required_worker: isForOriginal ? "original" : undefined,
      priority: workflow === "filler" ? 10 : 0,
    });
    return row.execution_id;
  }

  /** What a worker does with an execution that it has been given. */
  async does(name: string, execution_id: string, act: Act): Promise<void> {
    await settled();
    const member = this.member(name);
    const assigned = member.assignment(execution_id);
    if (!assigned) throw new Error(`${name} was not given the execution`);
    await act(member.worker, assigned);
    const { worker } = await this.t.row(execution_id);
    if (worker !== name) member.letGo(assigned);
    await settled();
  }

  /** Time goes by, and who lives says so. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= MS_BETWEEN_BEATS) {
      await this.t.time.advance(Math.min(left, MS_BETWEEN_BEATS));
      for (const member of this.#members) await member.beat();
    }
    await settled();
  }

  /** The worker that has an execution, as both know; undefined while it waits. */
  async ran(execution_id: string): Promise<string | undefined> {
    await settled();
    const { worker, generation } = await this.t.row(execution_id);
    if (worker === null) return undefined;
    const assigned = this.member(worker).assignment(execution_id);
    return assigned?.generation === generation ? worker : "nobody: the assignment was not sent";
  }

  /** Every worker that ever had an execution of a workflow. */
  async claimants(workflow: string): Promise<string[]> {
    const page = { workflow, order: "created_asc", limit: 100, offset: 0 } as const;
    const { items } = await this.t.store.executions.list(page);
    const logs = await Promise.all(items.map((row) => this.t.store.log.read(row.execution_id)));
    const claims = logs.flat().filter(({ event }) => event.type === "WORKFLOW_CLAIMED");
    return [...new Set(claims.map(({ event }) => (event.value as { worker: string }).worker))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const member of this.#members) member.die();
    await this.t[Symbol.asyncDispose]();
  }
}
