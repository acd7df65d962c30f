/**
 * The program of the thread that reads lists, on a connection of its own that cannot write. It loads
 * SQLite and next to nothing else, since the first list waits for all that it loads.
 */
import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import type { RenderedSql } from "../operations/sql.ts";
import type { Bindable } from "./connection.ts";
import type { ListAnswer, ListRequest, ListThreadData } from "./list-thread.ts";
import { startsWithAnyCase } from "./lists.ts";

type ListStatement = Database.Statement<Bindable[], readonly unknown[]>;

const { path, busyTimeoutMs } = workerData as ListThreadData;
const db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
db.function("starts_with_any_case", { deterministic: true }, startsWithAnyCase);
const prepared = new Map<string, ListStatement>();
const readAll = db.transaction((queries: ListRequest["queries"]) => queries.map(rowsOf));

parentPort?.on("message", ({ id, queries }: ListRequest) => {
  parentPort?.postMessage(answer(id, queries));
});

function rowsOf({ text, values }: RenderedSql): readonly (readonly unknown[])[] {
  let statement = prepared.get(text);
  if (!statement) {
    statement = db.prepare<Bindable[], readonly unknown[]>(text).raw();
    prepared.set(text, statement);
  }
  return statement.all(...(values as Bindable[]));
}

function answer(id: number, queries: ListRequest["queries"]): ListAnswer {
  try {
    return { id, rows: readAll(queries) };
  } catch (error) {
    // What is no failure of SQLite is a defect: it ends the thread, and with it what was asked.
    if (!(error instanceof Database.SqliteError)) throw error;
    return { id, failure: { message: error.message, code: error.code } };
  }
}
