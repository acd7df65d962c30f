/** The program of the thread that reads lists, on a connection of its own that cannot write. */
import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { Connection } from "./connection.ts";
import type { ListAnswer, ListRequest, ListThreadData } from "./list-thread.ts";
import { rowsOf, startsWithAnyCase } from "./lists.ts";

const { path, busyTimeoutMs } = workerData as ListThreadData;
const db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
db.function("starts_with_any_case", { deterministic: true }, startsWithAnyCase);
const connection = new Connection(db);
const readAll = db.transaction((queries: ListRequest["queries"]) =>
  queries.map((query) => rowsOf(connection, query)),
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
