/**
 * Of rows that belong to workflows, those that somebody may see: a part that is left out is any, an
 * empty list is nothing.
 */
export type Visible = readonly {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}[];

/** As the parameter of {@link visibleSql}; everything when there is no such list. */
export function visibleJson(visible: Visible = [{}]): string {
  return JSON.stringify(visible);
}

/**
 * A condition of one text and one parameter, however many pairs there are.
 *
 * @param seen The parameter as rows with a `value`, in the words of the database.
 * @param name The column with the workflow's name.
 */
export function visibleSql(seen: string, name: "workflow" | "name"): string {
  return `EXISTS (SELECT 1 FROM ${seen}
    WHERE coalesce(seen.value ->> 'namespace', namespace) = namespace
      AND coalesce(seen.value ->> 'name', ${name}) = ${name})`;
}

export const SEEN_IN_SQLITE = "json_each(?) AS seen";

export function seenInPostgres(parameter: string): string {
  return `jsonb_array_elements(${parameter}::jsonb) AS seen (value)`;
}
