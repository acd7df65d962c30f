/** The program of the thread that reads lists, on a connection of its own that cannot write. */
import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import type { Bindable } from "./connection.ts";
import type { ListAnswer, ListRequest, ListThreadData } from "./list-thread.ts";
import { startsWithAnyCase } from "./lists.ts";

const { path, busyTimeoutMs } = workerData as ListThreadData;
const db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
db.function("starts_with_any_case", { deterministic: true }, startsWithAnyCase);
/** Texts are few, though they depend on what is asked. */
const statements = new Map<string, Database.Statement<Bindable[], readonly unknown[]>>();
const readAll = db.transaction((queries: ListRequest["queries"]) =>
  queries.map(({ text, values }) => prepared(text).all(...(values as Bindable[]))),
);

parentPort?.on("message", ({ id, queries }: ListRequest) => {
  parentPort?.postMessage(answer(id, queries));
});

function answer(id: number, queries: ListRequest["queries"]): ListAnswer {
  try {
    return { id, rows: readAll(queries) };
  } catch (error) {
    // What is no failure of SQLite is a defect: it ends the thread, and with it what was asked.
    if (!(error instanceof Database.SqliteError)) throw error;
    return { id, failure: { message: error.message, code: error.code } };
  }
}

function prepared(sql: string): Database.Statement<Bindable[], readonly unknown[]> {
  let statement = statements.get(sql);
  if (!statement) {
    statement = db.prepare<Bindable[], readonly unknown[]>(sql).raw();
    statements.set(sql, statement);
  }
  return statement;
}
