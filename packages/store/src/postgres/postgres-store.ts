import type { EventRecords } from "../event-records.ts";
import { NO_OUTBOX, Outbox, type OutboxOptions } from "../hooks/outbox.ts";
import { sharedPorts } from "../ports.ts";
import type { Store } from "../store.ts";
import { BatchCommit } from "./commits/batch-commit.ts";
import { DirectStatement } from "./commits/direct-statement.ts";
import { EventRecordStatements } from "./commits/event-record-statements.ts";
import { ExecutionStatements } from "./commits/execution-statements.ts";
import { GroupCommit } from "./commits/group-commit.ts";
import { InputCache } from "./commits/input-cache.ts";
import type { ColumnTypes } from "./commits/sent-columns.ts";
import { Database } from "./database.ts";
import { PostgresDesk } from "./desk.ts";
import { EventLog } from "./event-log.ts";
import { Executions } from "./executions.ts";
import { PostgresHookSource } from "./hook-source.ts";
import { migrate } from "./migrate.ts";
import { type PostgresTarget, postgresTarget } from "./postgres-url.ts";
import { Replicas } from "./replicas/replicas.ts";
import { Retention } from "./retention.ts";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of the `pg` package. */
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Commits under way at once. */
  readonly lanes?: number | undefined;
  /** Connections for everything but commits and notifications. */
  readonly connections?: number | undefined;
  /** Rows that are written with events; none unless given. */
  readonly records?: readonly EventRecords[] | undefined;
  /** How events are matched with hooks; not at all unless given. */
  readonly hooks?: OutboxOptions | undefined;
  /** Told what an operator should know; nothing unless given. */
  readonly warn?: ((message: string) => void) | undefined;
}

const LANES = 4;
const CONNECTIONS = 6;
/** Characters of large inputs to keep at hand. */
const INPUTS = 32 * 2 ** 20;

/**
 * Opens a store that any number of servers share, up to date with this engine's migrations.
 *
 * @throws EngineError `invalid_input` for what is no such URL, `unavailable` in one line that names
 * host and database: it meets an operator, and never holds the password.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const target = postgresTarget(options.url);
  const types = await migrate(target, options.clock());
  const store = postgresStore(target, types, options);
  // Else the first commit would wait for it, which also says what fails.
  await store.outbox.refresh().catch(() => undefined);
  return store;
}

function postgresStore(
  target: PostgresTarget,
  types: ColumnTypes,
  options: PostgresOptions,
): Store {
  const { clock, lanes = LANES, connections = CONNECTIONS, warn = () => undefined } = options;
  const { hooks = NO_OUTBOX } = options;
  const database = new Database(target, { lanes, general: connections });
  const statements = new ExecutionStatements(database, types, new InputCache(INPUTS));
  const log = new EventLog(database);
  const ttlMs = hooks.snapshot_ttl_seconds * 1_000;
  const elapsed = () => performance.now();
  const outbox = new Outbox(hooks, new PostgresHookSource(database, { ttlMs, elapsed }));
  const kinds = [...(options.records ?? []), ...outbox.records()];
  const records = new EventRecordStatements(database, kinds);
  const direct = new DirectStatement(database, types, records);
  const batches = new BatchCommit({ database, statements, direct, log, clock, records });
  const commits = new GroupCommit(batches, lanes);
  const retention = new Retention(database);
  const replicas = new Replicas(database, target, warn);
  const desks: PostgresDesk[] = [];
  const newDesk = () => {
    const desk = new PostgresDesk(database, clock);
    desks.push(desk);
    return desk;
  };
  const close = async () => {
    await Promise.all([commits, retention, ...desks].map((writes) => writes.close()));
    await replicas.close();
    await database.close();
  };
  let closing: Promise<void> | undefined;
  return {
    kind: "postgres",
    ...sharedPorts(newDesk),
    executions: new Executions({ database, statements, commits }),
    log,
    retention,
    replicas,
    outbox,
    async ping() {
      await database.read({ text: "SELECT 1" });
    },
    assertWritable: () => database.assertWritable(),
    statementCount: () => database.sent,
    close: () => (closing ??= close()),
  };
}
