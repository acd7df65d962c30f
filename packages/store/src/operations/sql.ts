/**
 * SQL that is written once for both databases. Most of what we ask reads the same in both; the rest is
 * a part that each of them gets in its own words.
 */

/** A parameter; a list of texts is for PostgreSQL alone. */
export type SqlParameter = string | number | null | readonly string[];

/** A statement, or a part of one, with its parameters in place. */
export interface Sql<Row = unknown> {
  readonly texts: readonly string[];
  readonly parts: readonly (SqlParameter | Sql | ByDialect)[];
  /** What its rows are; never there. */
  readonly row?: Row;
}

export type Dialect = "sqlite" | "postgres";

/** A part that the databases do not have in the same words. */
export type ByDialect = { readonly [Name in Dialect]: Sql };

export interface RenderedSql {
  readonly text: string;
  readonly values: readonly SqlParameter[];
}

/** A value in the template becomes a parameter; another piece of SQL becomes a part of the text. */
export function sql<Row = unknown>(
  texts: TemplateStringsArray,
  ...parts: (SqlParameter | Sql | ByDialect)[]
): Sql<Row> {
  return { texts, parts };
}

/** SQL as it stands: names of columns and the like, never a value that somebody sent. */
export function raw<Row = unknown>(text: string): Sql<Row> {
  return { texts: [text], parts: [] };
}

/** All conditions hold; so it is without any. */
export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length > 0 ? joined(conditions, " AND ") : raw("true");
}

function joined(parts: readonly (Sql | SqlParameter)[], between: string): Sql {
  const texts = ["", ...parts.slice(1).map(() => between), ""];
  return parts.length > 0 ? { texts, parts } : raw("");
}

export function rendered(query: Sql, dialect: Dialect): RenderedSql {
  const values: SqlParameter[] = [];
  const textOf = ({ texts, parts }: Sql): string =>
    texts.reduce((text, next, i) => {
      const part = parts[i - 1] as Sql["parts"][number];
      if (isSql(part)) return text + textOf(part) + next;
      if (isByDialect(part)) return text + textOf(part[dialect]) + next;
      values.push(part);
      return `${text}${dialect === "postgres" ? `$${values.length}` : "?"}${next}`;
    });
  return { text: textOf(query), values };
}

function isSql(part: Sql["parts"][number]): part is Sql {
  return typeof part === "object" && part !== null && "texts" in part;
}

function isByDialect(part: Sql["parts"][number]): part is ByDialect {
  return typeof part === "object" && part !== null && "sqlite" in part;
}

/** `column ${anyOf(values)}`, as one parameter, so that there is one text however many there are. */
export function anyOf(values: readonly string[]): ByDialect {
  return {
    sqlite: sql`IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
    postgres: sql`= ANY(${values}::text[])`,
  };
}

/** The columns that are given have these values; without any it holds. Names are SQL as it stands. */
export function matching(values: Readonly<Record<string, string | number | undefined>>): Sql {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [sql`${raw(name)} = ${value}`],
  );
  return allOf(given);
}

export type ColumnType = "text" | "integer" | "bigint";

/** Many rows as one parameter, to be read under the name `r` like a table. */
export function rowsOf<Column extends string>(
  columns: Readonly<Record<Column, ColumnType>>,
  rows: readonly Readonly<Record<Column, string | number | null>>[],
): ByDialect {
  const text = JSON.stringify(rows);
  const names = Object.entries<ColumnType>(columns);
  const read = names.map(([name]) => `value ->> '${name}' AS ${name}`).join(", ");
  const types = names.map(([name, type]) => `${name} ${type}`).join(", ");
  return {
    sqlite: sql`(SELECT ${raw(read)} FROM json_each(${text})) AS r`,
    postgres: sql`json_to_recordset(${text}::json) AS r (${raw(types)})`,
  };
}

export type StoredRow = Readonly<Record<string, string | number | null>>;

export function insertInto(table: string, row: StoredRow): Sql {
  const columns = raw(Object.keys(row).join(", "));
  return sql`INSERT INTO ${raw(table)} (${columns}) VALUES (${joined(Object.values(row), ", ")})`;
}

/** What an upsert sets when the row is there: all columns but those of its key. */
export function overwriting(row: StoredRow, key: readonly string[]): Sql {
  const others = Object.keys(row).filter((column) => !key.includes(column));
  const set = others.map((column) => `${column} = excluded.${column}`).join(", ");
  return raw(`ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${set}`);
}

export function assigned(row: StoredRow): Sql {
  return joined(
    Object.entries(row).map(([column, value]) => sql`${raw(column)} = ${value}`),
    ", ",
  );
}

/** Nobody else changes the rows until the transaction ends; SQLite has one writer at a time anyhow. */
export const forUpdate: ByDialect = { sqlite: raw(""), postgres: raw("FOR UPDATE") };

/** The same, but others may look at them meanwhile just so. */
export const forShare: ByDialect = { sqlite: raw(""), postgres: raw("FOR SHARE") };

/** Rows that another server works on at this moment are passed over. */
export const skipLocked: ByDialect = { sqlite: raw(""), postgres: raw("FOR UPDATE SKIP LOCKED") };

export const greatest: ByDialect = { sqlite: raw("max"), postgres: raw("greatest") };
