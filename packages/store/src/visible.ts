import { raw, type Sql, sql } from "./operations/sql.ts";

/**
 * Of rows that belong to workflows, those that somebody may see: a part that is left out is any, an
 * empty list is nothing.
 */
export type Visible = readonly {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}[];

/**
 * A condition of one text and one parameter, however many pairs there are.
 *
 * @param visible Everything without one.
 * @param name The column with the workflow's name.
 */
export function seen(visible: Visible | undefined, name: "workflow" | "name"): Sql {
  if (visible === undefined) return raw("true");
  const pairs = JSON.stringify(visible);
  const rows = {
    sqlite: sql`json_each(${pairs})`,
    postgres: sql`jsonb_array_elements(${pairs}::jsonb)`,
  };
  const value = { sqlite: raw("seen.value"), postgres: raw("seen") };
  return sql`EXISTS (SELECT 1 FROM ${rows} AS seen
    WHERE coalesce(${value} ->> 'namespace', namespace) = namespace
      AND coalesce(${value} ->> 'name', ${raw(name)}) = ${raw(name)})`;
}
