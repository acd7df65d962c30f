import type { ScheduleRow } from "@engine/contract";
import {
  type DecideSchedule,
  type DueSchedulePage,
  type PutSchedule,
  patchedSchedule,
  readSchedule,
  SCHEDULE_COLUMNS,
  type ScheduleFilter,
  type StoredSchedule,
  scheduleExists,
  storedSchedule,
} from "../schedules.ts";
import type { Page } from "../store.ts";
import { SEEN_IN_SQLITE, visibleJson, visibleSql } from "../visible.ts";
import type { Bindable, Connection, Statement } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";

type Stored = Pick<StoredSchedule, "record">;

/** What the engine starts by itself. */
export class Schedules {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #find: Statement<Stored>;
  readonly #ofWorkflow: Statement<Stored>;
  readonly #put: Statement<unknown>;
  readonly #delete: Statement<unknown>;
  readonly #due: Statement<Stored>;
  readonly #next: Statement<{ due_at: number | null }>;

  constructor(connection: Connection, commits: GroupCommit) {
    this.#connection = connection;
    this.#commits = commits;
    this.#find = connection.prepare("SELECT record FROM schedules WHERE name = ?");
    this.#ofWorkflow = connection.prepare(
      "SELECT record FROM schedules WHERE namespace = ? AND workflow = ? ORDER BY name",
    );
    const [, ...others] = SCHEDULE_COLUMNS;
    this.#put = connection.prepare(`
      INSERT INTO schedules (${SCHEDULE_COLUMNS.join(", ")})
      VALUES (${SCHEDULE_COLUMNS.map(() => "?").join(", ")})
      ON CONFLICT DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(", ")}`);
    this.#delete = connection.prepare("DELETE FROM schedules WHERE name = ?");
    this.#due = connection.prepare(`
      SELECT record FROM schedules
      WHERE due_at IS NOT NULL AND due_at <= ? AND (due_at, name) > (?, ?)
      ORDER BY due_at, name LIMIT ?`);
    this.#next = connection.prepare(
      "SELECT min(due_at) AS due_at FROM schedules WHERE due_at IS NOT NULL AND due_at > ?",
    );
  }

  create(row: ScheduleRow): Promise<ScheduleRow> {
    return this.#commits.write(() => {
      if (this.#find.get(row.name)) throw scheduleExists(row.name);
      this.#write(row);
      return row;
    });
  }

  find(name: string): Promise<ScheduleRow | undefined> {
    return this.#connection.read(() => this.#read(name));
  }

  list({ limit, offset, visible, names, ...filter }: ScheduleFilter): Promise<Page<ScheduleRow>> {
    return this.#connection.read(() => {
      const given = Object.entries(filter).filter(([, value]) => value !== undefined);
      const terms = given.map(([name]) => `${name} = ?`);
      const values = given.map(([, value]) => value as Bindable);
      if (visible) {
        terms.push(visibleSql(SEEN_IN_SQLITE, "workflow"));
        values.push(visibleJson(visible));
      }
      if (names) {
        terms.push("name IN (SELECT value FROM json_each(?))");
        values.push(JSON.stringify(names));
      }
      const from = `FROM schedules WHERE ${terms.join(" AND ") || "true"}`;
      const rows = this.#connection.prepareOnce<Stored>(
        `SELECT record ${from} ORDER BY name LIMIT ? OFFSET ?`,
      );
      const total = this.#connection.prepareOnce<{ total: number }>(
        `SELECT count(*) AS total ${from}`,
      );
      return {
        items: rows.all(...values, limit, offset).map(readSchedule),
        total: total.get(...values)?.total ?? 0,
      };
    });
  }

  change(name: string, decide: DecideSchedule): Promise<ScheduleRow | undefined> {
    return this.#commits.write(() => {
      const row = this.#read(name);
      const patch = row && decide(row);
      if (!row || !patch) return row;
      const changed = patchedSchedule(row, patch);
      this.#write(changed);
      return changed;
    });
  }

  delete(name: string): Promise<boolean> {
    return this.#commits.write(() => this.#delete.run(name) > 0);
  }

  listDue({ until, limit, after }: DueSchedulePage): Promise<readonly ScheduleRow[]> {
    const { due_at = Number.MIN_SAFE_INTEGER, name = "" } = after ?? {};
    return this.#connection.read(() => this.#due.all(until, due_at, name, limit).map(readSchedule));
  }

  nextAt(after: number): Promise<number | null> {
    return this.#connection.read(() => this.#next.get(after)?.due_at ?? null);
  }

  /** Inside a transaction of the catalog. */
  put(name: string, put: PutSchedule, { dryRun }: { readonly dryRun: boolean }): void {
    const row = put(this.#read(name));
    if (row === undefined || dryRun) return;
    if (row === null) this.#delete.run(name);
    else this.#write(row);
  }

  /** Inside a transaction of the catalog. */
  ofWorkflow(namespace: string, workflow: string): readonly ScheduleRow[] {
    return this.#ofWorkflow.all(namespace, workflow).map(readSchedule);
  }

  #read(name: string): ScheduleRow | undefined {
    const stored = this.#find.get(name);
    return stored && readSchedule(stored);
  }

  #write(row: ScheduleRow): void {
    const stored = storedSchedule(row);
    this.#put.run(...SCHEDULE_COLUMNS.map((name) => stored[name]));
  }
}
