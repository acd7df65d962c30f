import { createHash } from "node:crypto";
import type { Event } from "@engine/contract";
import { ExecutionSeals, type FullDelivery, type SessionRow, type Store } from "@engine/store";
import type { MemoryValues } from "@engine/store/memory-values";
import type { Account } from "./accounts.ts";
import type { Clients } from "./clients.ts";
import type { ActivitySet, Evidence, ExecutionAtRest, Fault, WorkerWrite } from "./evidence.ts";
import type { ProgramRecorder } from "./programs/program-recorder.ts";
import type { Readers } from "./readers.ts";
import type { RestWatch } from "./rest-watch.ts";
import { RING } from "./servers.ts";
import type { ServiceUsers } from "./service-users.ts";
import type { CommitRecord } from "./store/commit-record.ts";
import type { Workers } from "./workers.ts";
import type { WriteRecord } from "./write-record.ts";

const PAGE = 500;

interface Parts {
  readonly base: Pick<
    Evidence,
    | ("seed" | "began_at" | "calm_at" | "ended_at" | "stuck" | "servers")
    | ("hop_limit" | "drains_at_once")
  >;
  readonly store: Store;
  readonly values: MemoryValues;
  readonly record: CommitRecord;
  readonly writes: WriteRecord;
  readonly recorder: ProgramRecorder;
  readonly clients: Clients;
  readonly readers: Readers;
  readonly users: Pick<ServiceUsers, "asked" | "deeds">;
  readonly workers: Workers;
  readonly watch: RestWatch;
  readonly faults: readonly Fault[];
  readonly longest: Pick<Evidence, "longest_question" | "longest_message">;
  readonly activities: readonly ActivitySet[];
  readonly accounts: readonly Account[];
}

/** Reads what the run has left, past every fault. */
export async function gather(parts: Parts): Promise<Evidence> {
  const { base, store, values, record, recorder, clients, readers, faults, activities } = parts;
  const sessions = await sessionsOf(parts);
  return {
    ...base,
    requests: clients.requests,
    streams: readers.streams,
    executions: await executionsOf(store),
    stored: await openedTexts(values, new ExecutionSeals(RING, store.executionKeys)),
    rests: parts.watch.rests,
    abandoned: [],
    commits: record.commits,
    writes: namedBySession(parts.writes.writes, record.sessions),
    keeps: parts.workers.keeps,
    bodies: recorder.bodies,
    values: recorder.values,
    faults,
    sessions,
    activities,
    principals: record.principals,
    accounts: parts.accounts,
    offers: record.offers,
    descriptions: record.descriptions,
    limits: record.limits,
    hooks: record.hooks,
    deliveries: await deliveriesOf(parts),
    handed_back_at: record.handedBackAt,
    offer_deeds: parts.users.deeds,
    resolutions: parts.users.asked,
    assignments: parts.workers.assignments,
    rights: parts.workers.rights,
    ...parts.longest,
    schedules: (await store.schedules.list({ limit: PAGE, offset: 0 })).items,
    deletions: record.deletions,
    counters: await countersOf(parts),
  };
}

async function executionsOf(store: Store): Promise<ExecutionAtRest[]> {
  const found: ExecutionAtRest[] = [];
  const seals = new ExecutionSeals(RING, store.executionKeys);
  for (let offset = 0; ; offset += PAGE) {
    const { items } = await store.executions.list({ order: "created_asc", limit: PAGE, offset });
    for (const { execution_id } of items) {
      const row = await store.executions.find(execution_id);
      if (row) found.push({ row, ...(await logsOf(store, seals, execution_id)) });
    }
    if (items.length < PAGE) return found;
  }
}

/** As the code knows them that made them; they are named after the execution that did. */
async function openedTexts(
  { texts }: MemoryValues,
  seals: ExecutionSeals,
): Promise<Record<string, string>> {
  const opened: Record<string, string> = {};
  for (const [reference_id, text] of texts) {
    const [execution_id = ""] = reference_id.split("/");
    opened[reference_id] = await seals.openText(execution_id, text);
  }
  return opened;
}

async function logsOf(
  store: Store,
  seals: ExecutionSeals,
  execution_id: string,
): Promise<Pick<ExecutionAtRest, "log" | "stored">> {
  const log = await store.log.read(execution_id);
  if (log.every(({ event }) => event.sealed === undefined)) return { log };
  const events = log.map(({ event }) => event);
  const real = await seals.revealed(execution_id, events);
  return {
    log: log.map(({ recorded_at }, i) => ({ event: real[i] as Event, recorded_at })),
    stored: log,
  };
}

async function sessionsOf({ record, store }: Parts): Promise<SessionRow[]> {
  const ids = [...new Set(record.sessions.values())];
  const rows: SessionRow[] = [];
  for (const id of ids) {
    const row = await store.sessions.find(id);
    if (row) rows.push(row);
  }
  return rows;
}

/** Workers write under a secret; the evidence names the session. */
function namedBySession(
  writes: readonly WorkerWrite[],
  sessions: ReadonlyMap<string, string>,
): WorkerWrite[] {
  const names = new Map<string, string>();
  const nameOf = (secret: string) => {
    const known = names.get(secret);
    if (known !== undefined) return known;
    const hash = createHash("sha256").update(secret).digest("hex");
    const name = sessions.get(hash) ?? secret;
    names.set(secret, name);
    return name;
  };
  return writes.map((write) => ({ ...write, session: nameOf(write.session) }));
}

/** Those of hooks that are gone, too: there are to be none. */
async function deliveriesOf({ store, record }: Parts): Promise<FullDelivery[]> {
  const found: FullDelivery[] = [];
  for (const hook_id of new Set(record.hooks.map((hook) => hook.hook_id))) {
    for (let offset = 0; ; offset += PAGE) {
      const page = { limit: PAGE, offset };
      const { items } = await store.deliveries.list(hook_id, page);
      for (const { id } of items) {
        const full = await store.deliveries.find(hook_id, id);
        if (full) found.push(full);
      }
      if (items.length < PAGE) break;
    }
  }
  return found;
}

/** Whether a hook that is there has anything left to start. */
export async function isOutboxOpen(
  store: Store,
  { hooks }: Pick<CommitRecord, "hooks">,
): Promise<boolean> {
  for (const hook_id of new Set(hooks.map((hook) => hook.hook_id))) {
    if ((await store.hooks.status(hook_id)).pending > 0) return true;
  }
  return false;
}

async function countersOf({ store, workers, record }: Parts): Promise<Record<string, number>> {
  const counters: Record<string, number> = {};
  for (const { name, load } of await store.workers.list()) counters[`load of ${name}`] = load;
  for (const { process, worker } of workers.lives) {
    counters[`copies at ${process.name}`] = worker?.status().running ?? 0;
  }
  const limited = record.commits.flatMap(({ row }) => row.requirements?.limits ?? []);
  for (const bucket of new Set(limited.map((limit) => limit.bucket))) {
    const { total } = await store.limits.holdersIn(bucket, { limit: 1, offset: 0 });
    counters[`places taken in ${bucket}`] = total;
  }
  return counters;
}
