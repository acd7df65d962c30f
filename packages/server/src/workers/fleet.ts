/** Workers as operators see and direct them (WMD-6, WMD-7, WRK-11, WRK-12). */
import {
  type Answer,
  type AuditEntry,
  type DetailedWorkerRecord,
  EngineError,
  formatInstant,
  grantedServices,
  labelsWithGrants,
  notFound,
  type Parsed,
  type Requirements,
  type ReservedResources,
  type routes,
  type WorkerRecord,
  type WorkerStatus,
} from "@engine/contract";
import type { OwnedExecution, WorkerFilter, WorkerRow } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { instant } from "../executions/record.ts";
import { RESOURCES } from "../gate/fits.ts";
import type { Bus } from "../replicas/bus.ts";
import type { Decision } from "./control.ts";
import type { Sessions } from "./sessions.ts";

/** Ids of executions that the record of one worker shows. */
const MOST_SHOWN = 100;

interface Parts {
  readonly ports: EnginePorts;
  readonly sessions: Sessions;
  readonly bus: Bus;
}

type List = typeof routes.fleet.list;

type Filter = Omit<Parsed<List>["query"], "label"> & WorkerFilter;

/** Every answer is read from the store: equal on every server and after a restart. */
export class Fleet {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async list({
    status,
    limit,
    offset,
    ...of
  }: Filter): Promise<Omit<Answer<List>["body"], "auth_filtered">> {
    const rows = await this.#parts.ports.store.workers.list(of);
    const wanted = rows.filter((row) => status === undefined || statusOf(row) === status);
    const page = wanted.slice(offset, offset + limit);
    const items = await Promise.all(page.map(async (row) => toRecord(row, await this.#owned(row))));
    return { items, total: wanted.length, limit, offset };
  }

  async show(name: string): Promise<DetailedWorkerRecord> {
    const row = await this.#row(name);
    const owned = await this.#owned(row);
    const executions = owned.slice(0, MOST_SHOWN).map(({ execution_id }) => execution_id);
    return { ...toRecord(row, owned), executions };
  }

  /** A pause holds until a resume, across reconnects and restarts of the worker. */
  async pause(name: string, audit?: AuditEntry): Promise<WorkerRecord> {
    return this.#desire({ worker: name, state: "paused" }, audit);
  }

  async resume(name: string, audit?: AuditEntry): Promise<WorkerRecord> {
    return this.#desire({ worker: name, state: "active" }, audit);
  }

  async drain(
    name: string,
    timeout_seconds: number | undefined,
    audit?: AuditEntry,
  ): Promise<WorkerRecord> {
    const status = statusOf(await this.#row(name));
    if (status === "offline" || status === "disconnected") {
      const message = `worker ${name} is ${status}, so there is nothing to drain`;
      throw new EngineError("worker_offline", message, { details: { status } });
    }
    return this.#desire({ worker: name, state: "draining", timeout_seconds }, audit);
  }

  async delete(name: string, audit?: AuditEntry): Promise<void> {
    const deleted = await this.#parts.ports.store.workers.delete(name, audit);
    if (deleted === undefined) throw notFound("worker", name);
    if (deleted) return;
    const message = `worker ${name} is connected; stop it or drain it first`;
    throw new EngineError("worker_connected", message);
  }

  async #desire(decision: Decision, audit?: AuditEntry): Promise<WorkerRecord> {
    const { ports, sessions, bus } = this.#parts;
    const { worker, state } = decision;
    const row = await ports.store.workers.desire(worker, state, audit);
    if (!row) throw notFound("worker", worker);
    sessions.desire(decision);
    void bus.send({ kind: "desired", ...decision });
    return toRecord(row, await this.#owned(row));
  }

  async #row(name: string): Promise<WorkerRow> {
    const row = await this.#parts.ports.store.workers.find(name);
    if (!row) throw notFound("worker", name);
    return row;
  }

  async #owned({ session, load }: WorkerRow): Promise<readonly OwnedExecution[]> {
    if (!session || load === 0) return [];
    return this.#parts.ports.store.queue.listOwned(session.session_id);
  }
}

function toRecord(row: WorkerRow, owned: readonly OwnedExecution[]): WorkerRecord {
  const { name, desired_state, registered_at, session, load, attributes } = row;
  const { metadata, granted } = attributes;
  const offered = session?.services ?? [];
  const said = session?.said;
  const slots = session?.slots ?? 0;
  return {
    name,
    status: statusOf(row),
    desired_state,
    healthy: said?.healthy ?? session !== null,
    labels: { ...labelsWithGrants(session?.labels ?? {}, grantedServices(offered, granted)) },
    metadata,
    services: { offered: [...offered], granted: [...granted] },
    runners: [...(session?.runners ?? [])],
    default_runner: session?.default_runner ?? null,
    slots,
    load,
    slots_free: slots === 0 ? null : Math.max(slots - load, 0),
    resources: said?.resources ?? session?.resources ?? null,
    reserved: reservedBy(owned),
    packages: [...(session?.packages ?? [])],
    metrics: { ...said?.metrics },
    stuck_threads: said?.stuck_threads ?? 0,
    clock_offset_ms: said?.clock_offset_ms ?? null,
    runtime: session?.runtime ?? null,
    engine_version: session?.engine_version ?? null,
    host: session?.host ?? null,
    pid: session?.pid ?? null,
    dispatch: session?.dispatch ?? null,
    registered_at: formatInstant(registered_at),
    connected_at: instant(session?.connected_at ?? null),
    last_seen_at: instant(session?.last_seen_at ?? null),
  };
}

function statusOf({ session, desired_state }: WorkerRow): WorkerStatus {
  if (!session || session.ended_at !== null || session.lost_at !== null) return "offline";
  if (session.connected_at === null || session.disconnected_at !== null) return "disconnected";
  const { status = "active", healthy = true } = session.said ?? {};
  if (desired_state === "draining" || status === "draining") return "draining";
  if (desired_state === "paused" || status === "paused") return "paused";
  return healthy ? "online" : "unhealthy";
}

function reservedBy(owned: readonly OwnedExecution[]): ReservedResources {
  const sum = { cpu: 0, memory: 0, disk: 0, gpu: 0 };
  for (const { requirements } of owned) {
    const { requests = {} } =
      requirements === null ? {} : (JSON.parse(requirements) as Requirements);
    for (const resource of RESOURCES) sum[resource] += requests[resource] ?? 0;
  }
  return sum;
}
