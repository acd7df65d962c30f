/**
 * The one statement of a direct commit: changes of known executions, each only while its row is the
 * version that was judged; creations, each only while the session that is to have it is as thought;
 * and the log of what was written of both. A statement by itself is a transaction: one message, one
 * wait for the disk, however many executions there are.
 */
import { NO_RECORDS } from "../../event-records.ts";
import type { Database, Query, Statement } from "../database.ts";
import type { EventRecordStatements, OwnedRecord } from "./event-record-statements.ts";
import type { ClaimedCreation, KnownChange } from "./row-cache.ts";
import {
  arePlain,
  type ColumnTypes,
  changedColumns,
  columnsOf,
  executionColumns,
  INSERTED,
  INSERTED_PLAIN,
  type SentColumn,
  sentRows,
  sentRowsSql,
} from "./sent-columns.ts";

/** Ids of what was written, parted by spaces, and the transaction that did it; null for nothing. */
export type DirectAnswer = readonly [execution_ids: string | null, written_by: string | null];

type Direct = KnownChange | ClaimedCreation;

/** Which executions a statement writes, and which of their columns. */
interface Shape {
  /** Of the changes, as {@link changedColumns} has them; 0 when there are none. */
  readonly mask: number;
  readonly creates: "nothing" | "plain" | "all";
  /** Whether one of the creations was judged by metadata or grants of a worker. */
  readonly comparesAttributes: boolean;
  /** Kinds of rows that belong to the events, by their places. */
  readonly records: readonly number[];
}

/** A statement, and what is sent with it. */
interface Prepared {
  readonly statement: Statement;
  readonly changed: readonly SentColumn<KnownChange>[];
  readonly created: readonly SentColumn<ClaimedCreation>[];
}

const LOGGED: readonly SentColumn<Direct>[] = [
  { name: "first_seq", type: "integer", value: ({ segment }) => segment.seq },
  { name: "events", type: "text", value: ({ segment }) => segment.events },
];
const WRITTEN_BY: SentColumn<KnownChange> = {
  name: "written_by",
  type: "xid",
  value: ({ known }) => known.written_by,
};
const GUARD_EPOCH: SentColumn<ClaimedCreation> = {
  name: "guard_epoch",
  type: "integer",
  value: ({ guard }) => guard.epoch,
};

const GUARD_ATTRIBUTES: SentColumn<ClaimedCreation> = {
  name: "guard_attributes",
  type: "integer",
  value: ({ guard }) => guard.attributes ?? null,
};

export class DirectStatement {
  readonly #database: Database;
  readonly #types: ColumnTypes;
  readonly #records: EventRecordStatements;
  readonly #prepared = new Map<string, Prepared>();

  constructor(database: Database, types: ColumnTypes, records: EventRecordStatements) {
    this.#database = database;
    this.#types = types;
    this.#records = records;
  }

  /** At least one of them, recorded at one instant. Rows are locked in the order of their ids. */
  write(changes: readonly KnownChange[], creations: readonly ClaimedCreation[], at: number): Query {
    let mask = 0;
    for (const { known, changed } of changes) mask |= changedColumns(known.row, changed.row);
    const isPlain = arePlain(creations.map(({ changed }) => changed.row));
    const creates = creations.length === 0 ? "nothing" : isPlain ? "plain" : "all";
    const owned = this.#owned(changes, creations);
    const records = owned.flatMap((some, kind) => (some.length > 0 ? [kind] : []));
    const comparesAttributes = creations.some(({ guard }) => guard.attributes !== undefined);
    const shape = { mask, creates, comparesAttributes, records } as const;
    const { statement, changed, created } = this.#prepare(shape);
    const sessions = [...new Set(creations.map(({ guard }) => guard.session))];
    return [
      statement,
      at,
      ...(mask === 0 ? [] : sentRows(changed, inOrder(changes))),
      ...(creates === "nothing" ? [] : [sessions, ...sentRows(created, inOrder(creations))]),
      ...records.flatMap((kind) => this.#records.sent(kind, owned[kind] ?? [])),
    ];
  }

  #owned(
    changes: readonly KnownChange[],
    creations: readonly ClaimedCreation[],
  ): readonly (readonly OwnedRecord[])[] {
    const all = [...changes, ...creations].filter(({ records }) => records !== NO_RECORDS);
    if (all.length === 0) return [];
    return this.#records.owned(
      all.map(({ changed, records }) => ({ execution_id: changed.row.execution_id, records })),
    );
  }

  #prepare(shape: Shape): Prepared {
    const key = `${shape.mask} ${shape.creates} ${shape.comparesAttributes} ${shape.records}`;
    const known = this.#prepared.get(key);
    if (known) return known;
    const updated = columnsOf(shape.mask);
    const inserted = shape.creates === "plain" ? INSERTED_PLAIN : INSERTED;
    const changed = [...this.#columns(["execution_id", ...updated]), ...LOGGED, WRITTEN_BY];
    const guard = shape.comparesAttributes ? [GUARD_EPOCH, GUARD_ATTRIBUTES] : [GUARD_EPOCH];
    const created = [...this.#columns(inserted), ...LOGGED, ...guard];
    const parts: string[] = [];
    let next = 2;
    if (shape.mask !== 0) {
      parts.push(changedSql(updated, sentRowsSql(changed, next)));
      next += changed.length;
    }
    if (shape.creates !== "nothing") {
      const sent = sentRowsSql(created, next + 1);
      parts.push(createdSql(inserted, sent, { sessions: `$${next}`, ...shape }));
      next += 1 + created.length;
    }
    const recorded = shape.records.map((kind) => {
      const { sql, parameters } = this.#records.part(kind, next);
      next += parameters;
      return sql;
    });
    const names = [
      ...(shape.mask === 0 ? [] : ["changed"]),
      ...(shape.creates === "nothing" ? [] : ["fresh"]),
    ];
    const statement = this.#database.prepare(directSql(parts, names, recorded), "array");
    const prepared = { statement, changed, created };
    this.#prepared.set(key, prepared);
    return prepared;
  }

  #columns(names: readonly string[]): readonly SentColumn<Direct>[] {
    return executionColumns(names, this.#types).map(({ name, type, value }) => ({
      name,
      type,
      value: ({ changed }) => value(changed.row),
    }));
  }
}

/** Two servers that write the same executions wait for each other in one order. */
function inOrder<One extends Direct>(judged: readonly One[]): readonly One[] {
  return judged.toSorted((a, b) =>
    a.changed.row.execution_id < b.changed.row.execution_id ? -1 : 1,
  );
}

/** What another server was faster with stays as it is. */
function changedSql(columns: readonly string[], sent: string): string {
  const assignments = columns.map((column) => `${column} = r.${column}`).join(", ");
  return `changed AS (
    UPDATE executions AS e SET ${assignments} FROM ${sent} AS r
    WHERE e.execution_id = r.execution_id AND e.xmin = r.written_by
    RETURNING e.execution_id, r.first_seq, e.head, r.events
  )`;
}

/**
 * The guard is that of `guardOf`: the session lives, in this epoch, its worker takes work and is, where
 * that was looked at, described as it was.
 */
function createdSql(
  columns: readonly string[],
  sent: string,
  { sessions, comparesAttributes }: Pick<Shape, "comparesAttributes"> & { sessions: string },
): string {
  const isAsJudged = "coalesce(r.guard_attributes, guarded.revision) = guarded.revision";
  return `guarded AS (
    SELECT s.session_id, s.epoch, w.revision
    FROM sessions AS s JOIN workers AS w ON w.name = s.worker
    WHERE s.session_id = ANY(${sessions}) AND s.ended_at IS NULL AND w.desired_state = 'active'
    ORDER BY s.session_id FOR SHARE OF s, w
  ), fresh AS MATERIALIZED (
    SELECT r.* FROM ${sent} AS r
    JOIN guarded ON guarded.session_id = r.session AND guarded.epoch = r.guard_epoch
      ${comparesAttributes ? `AND ${isAsJudged}` : ""}
  ), created AS (
    INSERT INTO executions (${columns.join(", ")}) SELECT ${columns.join(", ")} FROM fresh
  )`;
}

function directSql(
  parts: readonly string[],
  names: readonly string[],
  recorded: readonly string[],
): string {
  const written = names.map((name) => `SELECT execution_id, first_seq, head, events FROM ${name}`);
  return `
    WITH ${parts.join(", ")}, written AS MATERIALIZED (${written.join(" UNION ALL ")}),
    logged AS (
      INSERT INTO segments (execution_id, seq, last_seq, recorded_at, events)
      SELECT execution_id, first_seq, head, $1, events FROM written
    )${recorded.map((part) => `, ${part}`).join("")}
    SELECT string_agg(execution_id, ' '), pg_current_xact_id_if_assigned()::xid FROM written`;
}
