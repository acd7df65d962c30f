import type { ScheduleRow } from "@engine/contract";
import {
  type DecideSchedule,
  type DeclaredSchedules,
  type DueSchedulePage,
  patchedSchedule,
  readSchedule,
  SCHEDULE_COLUMNS,
  type ScheduleFilter,
  type StoredSchedule,
  scheduleExists,
  storedSchedule,
} from "../schedules.ts";
import type { Page } from "../store.ts";
import { seenInPostgres, visibleJson, visibleSql } from "../visible.ts";
import type { Database, Lane, Parameter, Query, Statement } from "./database.ts";
import type { Serial } from "./serial.ts";

type Stored = Pick<StoredSchedule, "record">;

/** What the engine starts by itself, whichever replica does it. */
export class Schedules {
  readonly #database: Database;
  readonly #writes: Serial;
  readonly #find: Statement;
  readonly #lock: Statement;
  readonly #lockAll: Statement;
  readonly #ofWorkflow: Statement;
  readonly #insert: Statement;
  readonly #update: Statement;
  readonly #delete: Statement;
  readonly #due: Statement;
  readonly #next: Statement;

  constructor(database: Database, writes: Serial) {
    this.#database = database;
    this.#writes = writes;
    const find = "SELECT record FROM schedules WHERE name = $1";
    this.#find = database.prepare(find);
    this.#lock = database.prepare(`${find} FOR UPDATE`);
    this.#lockAll = database.prepare(
      "SELECT record FROM schedules WHERE name = ANY($1::text[]) ORDER BY name FOR UPDATE",
    );
    this.#ofWorkflow = database.prepare(`
      SELECT record FROM schedules WHERE namespace = $1 AND workflow = $2
      ORDER BY name FOR UPDATE`);
    const parameters = SCHEDULE_COLUMNS.map((_, index) => `$${index + 1}`);
    this.#insert = database.prepare(`
      INSERT INTO schedules (${SCHEDULE_COLUMNS.join(", ")}) VALUES (${parameters.join(", ")})
      ON CONFLICT DO NOTHING RETURNING 1`);
    const sets = SCHEDULE_COLUMNS.map((name, index) => `${name} = $${index + 1}`).slice(1);
    this.#update = database.prepare(`UPDATE schedules SET ${sets.join(", ")} WHERE name = $1`);
    this.#delete = database.prepare("DELETE FROM schedules WHERE name = $1 RETURNING 1");
    this.#due = database.prepare(`
      SELECT record FROM schedules
      WHERE due_at IS NOT NULL AND due_at <= $1 AND (due_at, name) > ($2, $3)
      ORDER BY due_at, name LIMIT $4`);
    this.#next = database.prepare(
      "SELECT min(due_at) AS due_at FROM schedules WHERE due_at IS NOT NULL AND due_at > $1",
    );
  }

  create(row: ScheduleRow): Promise<ScheduleRow> {
    return this.#writes.write(async () => {
      const [statement, ...values] = this.#query(this.#insert, row);
      const inserted = await this.#database.write(statement, ...values);
      if (inserted.length === 0) throw scheduleExists(row.name);
      return row;
    });
  }

  async find(name: string): Promise<ScheduleRow | undefined> {
    const [stored] = await this.#database.read<Stored>(this.#find, name);
    return stored && readSchedule(stored);
  }

  async list(asked: ScheduleFilter): Promise<Page<ScheduleRow>> {
    const { limit, offset, visible, names, ...filter } = asked;
    const given = Object.entries(filter).filter(([, value]) => value !== undefined);
    const terms = given.map(([name], index) => `${name} = $${index + 1}`);
    const values = given.map(([, value]) => value as Parameter);
    const next = (value: Parameter) => `$${values.push(value)}`;
    if (visible) terms.push(visibleSql(seenInPostgres(next(visibleJson(visible))), "workflow"));
    if (names) terms.push(`name = ANY(${next(names)})`);
    const from = `FROM schedules WHERE ${terms.join(" AND ") || "true"}`;
    const page = `ORDER BY name LIMIT $${values.length + 1} OFFSET $${values.length + 2}`;
    const [rows, totals] = (await this.#database.readAll<unknown>(
      [{ text: `SELECT record ${from} ${page}` }, ...values, limit, offset],
      [{ text: `SELECT count(*) AS total ${from}` }, ...values],
    )) as [Stored[], { total: number }[]];
    return { items: rows.map(readSchedule), total: totals[0]?.total ?? 0 };
  }

  change(name: string, decide: DecideSchedule): Promise<ScheduleRow | undefined> {
    return this.#writes.write(() =>
      this.#database.transaction(async (lane) => {
        const row = await this.#locked(lane, name);
        const patch = row && decide(row);
        if (!row || !patch) return row;
        const changed = patchedSchedule(row, patch);
        await lane.pipelined(this.#query(this.#update, changed));
        return changed;
      }),
    );
  }

  delete(name: string): Promise<boolean> {
    return this.#writes.write(async () => {
      const deleted = await this.#database.write(this.#delete, name);
      return deleted.length > 0;
    });
  }

  async listDue({ until, limit, after }: DueSchedulePage): Promise<readonly ScheduleRow[]> {
    const { due_at = Number.MIN_SAFE_INTEGER, name = "" } = after ?? {};
    const rows = await this.#database.read<Stored>(this.#due, until, due_at, name, limit);
    return rows.map(readSchedule);
  }

  async nextAt(after: number): Promise<number | null> {
    const [row] = await this.#database.read<{ due_at: number | null }>(this.#next, after);
    return row?.due_at ?? null;
  }

  /** Inside a transaction of the catalog. */
  async put(
    lane: Lane,
    declared: readonly DeclaredSchedules[],
    { dryRun }: { readonly dryRun: boolean },
  ): Promise<void> {
    const names = declared.map(({ name }) => name);
    const [found = []] = await lane.pipelined<Stored>([this.#lockAll, names]);
    const rows = new Map(found.map(readSchedule).map((row) => [row.name, row]));
    for (const { name, put } of declared) {
      const before = rows.get(name);
      const row = put(before);
      if (row === undefined || dryRun) continue;
      if (row === null) await lane.pipelined([this.#delete, name]);
      else if (before) await lane.pipelined(this.#query(this.#update, row));
      else {
        const [inserted = []] = await lane.pipelined(this.#query(this.#insert, row));
        // Somebody created one of that name since it was looked for.
        if (inserted.length === 0) throw scheduleExists(name);
      }
    }
  }

  /** Inside a transaction of the catalog. */
  async ofWorkflow(
    lane: Lane,
    namespace: string,
    workflow: string,
  ): Promise<readonly ScheduleRow[]> {
    const [rows = []] = await lane.pipelined<Stored>([this.#ofWorkflow, namespace, workflow]);
    return rows.map(readSchedule);
  }

  async #locked(lane: Lane, name: string): Promise<ScheduleRow | undefined> {
    const [[stored] = []] = await lane.pipelined<Stored>([this.#lock, name]);
    return stored && readSchedule(stored);
  }

  #query(statement: Statement, row: ScheduleRow): Query {
    const stored = storedSchedule(row);
    return [statement, ...SCHEDULE_COLUMNS.map((name) => stored[name])];
  }
}
