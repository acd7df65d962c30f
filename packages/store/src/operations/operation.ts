/**
 * An operation is written once for both databases: a generator that yields what it asks and is told
 * the answers. SQLite runs it without a break inside of its group commit; on PostgreSQL each question
 * is a message and an answer.
 */
import type { MethodKind, Page } from "../ports/port.ts";
import { type Sql, sql } from "./sql.ts";

export type Question =
  /** Sent together, answered together, each with its rows. */
  | { readonly kind: "queries"; readonly queries: readonly Sql[] }
  /** Until the transaction ends nobody else gets the lock of this name, on any server. */
  | { readonly kind: "lock"; readonly name: string }
  /** The clock of the store. */
  | { readonly kind: "clock" };

type Answer = readonly (readonly unknown[])[] | number | undefined;

export type Operation<Value> = Generator<Question, Value, Answer>;

type RowsOf<Rows extends readonly unknown[]> = {
  readonly [At in keyof Rows]: readonly Rows[At][];
};

/** Several statements in one go, none of which needs the answer of another. */
export function* together<Rows extends readonly unknown[]>(
  ...queries: { readonly [At in keyof Rows]: Sql<Rows[At]> }
): Operation<RowsOf<Rows>> {
  // A database answers each statement with what that says of its rows.
  return (yield { kind: "queries", queries }) as RowsOf<Rows>;
}

export function* rows<Row>(query: Sql<Row>): Operation<readonly Row[]> {
  const [found] = yield* together<[Row]>(query);
  return found;
}

export function* first<Row>(query: Sql<Row>): Operation<Row | undefined> {
  const [row] = yield* rows(query);
  return row;
}

/** How many rows a statement has written: it ends with `RETURNING 1`. */
export function* count(query: Sql): Operation<number> {
  return (yield* rows(sql`${query} RETURNING 1`)).length;
}

export function* run(...queries: readonly Sql[]): Operation<void> {
  if (queries.length > 0) yield { kind: "queries", queries };
}

export function* lock(name: string): Operation<void> {
  yield { kind: "lock", name };
}

export function* now(): Operation<number> {
  return (yield { kind: "clock" }) as number;
}

/** A page of a list, with the number of all that match. */
export function* page<Row, Item>(
  list: {
    readonly columns: Sql<Row>;
    /** From FROM to the last condition. */
    readonly from: Sql;
    readonly order: Sql;
    readonly limit: number;
    readonly offset: number;
  },
  toItem: (row: Row) => Item,
): Operation<Page<Item>> {
  const { columns, from, order, limit, offset } = list;
  const [found, [counted]] = yield* together<[Row, { total: number }]>(
    sql`SELECT ${columns} ${from} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`,
    sql`SELECT count(*) AS total ${from}`,
  );
  return { items: found.map(toItem), total: counted?.total ?? 0 };
}

/** Where operations are done. */
export interface Desk {
  read<Value>(run: () => Operation<Value>): Promise<Value>;
  /** In a transaction; what it throws undoes it. It may run again. */
  write<Value>(run: () => Operation<Value>): Promise<Value>;
  /** The same for a single statement, which is a transaction by itself. */
  writeOnce<Value>(run: () => Operation<Value>): Promise<Value>;
}

/** A method of a port: how it is asked, and what it does. */
export interface Declared<Args extends unknown[], Value> {
  readonly kind: MethodKind;
  // A method, so that an argument may be left out where its operation takes undefined.
  on(desk: Desk, args: Args): Promise<Value>;
}

/** A port whose operations are written once. */
export type Operations<Port> = {
  readonly [Method in keyof Port]: Port[Method] extends (
    ...args: infer Args
  ) => Promise<infer Value>
    ? Declared<Args, Value>
    : never;
};

export function reads<Args extends unknown[], Value>(
  operation: (...args: Args) => Operation<Value>,
): Declared<Args, Value> {
  return { kind: "read", on: (desk, args) => desk.read(() => operation(...args)) };
}

export function writes<Args extends unknown[], Value>(
  operation: (...args: Args) => Operation<Value>,
): Declared<Args, Value> {
  return { kind: "write", on: (desk, args) => desk.write(() => operation(...args)) };
}

export function writesOnce<Args extends unknown[], Value>(
  operation: (...args: Args) => Operation<Value>,
): Declared<Args, Value> {
  return { kind: "write", on: (desk, args) => desk.writeOnce(() => operation(...args)) };
}

/** Writes in more than one transaction, between which everything else goes on. */
export function writesInSteps<Args extends unknown[], Value>(
  steps: (desk: Desk, ...args: Args) => Promise<Value>,
): Declared<Args, Value> {
  return { kind: "write", on: (desk, args) => steps(desk, ...args) };
}

/** Operations of any port, without their types. */
export type AnyOperations = Readonly<Record<string, Declared<unknown[], unknown>>>;

export function kindsOf(operations: AnyOperations): Readonly<Record<string, MethodKind>> {
  return Object.fromEntries(Object.entries(operations).map(([name, { kind }]) => [name, kind]));
}

/** The methods of a port, which do its operations at a desk. */
export function portOn(
  desk: Desk,
  operations: AnyOperations,
): Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>> {
  const methods = Object.entries(operations).map(
    ([name, { on }]) => [name, (...args: unknown[]) => on(desk, args)] as const,
  );
  return Object.fromEntries(methods);
}
