import type { Connection } from "./connection.ts";
import type { ListQuery, ListReader } from "./list-query.ts";

/** Reads lists on the store's own connection, while everything else waits. */
export class ConnectionLists implements ListReader {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  read(queries: readonly ListQuery[]): Promise<readonly (readonly unknown[])[][]> {
    return this.#connection.read(() =>
      queries.map(({ sql, values }) =>
        this.#connection.prepareOnce<readonly unknown[]>(sql, "raw").all(...values),
      ),
    );
  }

  async close(): Promise<void> {}
}
