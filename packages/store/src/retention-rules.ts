/** What retention may delete, decided alike for both dialects. */

/** Something that is there and needs an execution's log or values: its parent, or a fork of it. */
export interface Need {
  readonly execution_id: string;
  readonly needed_by: string;
}

/**
 * Those that may go together: a child stays with its parent, and so does what a fork was made from,
 * since their logs may point at its values.
 */
export function unneeded(expired: readonly string[], needs: readonly Need[]): readonly string[] {
  const going = new Set(expired);
  for (let before = -1; before !== going.size; ) {
    before = going.size;
    for (const { execution_id, needed_by } of needs) {
      if (!going.has(needed_by)) going.delete(execution_id);
    }
  }
  return [...going];
}

/**
 * Reads the needs of executions.
 *
 * @param asked A table of their ids, as `asked (execution_id)`.
 */
export function needsSql(asked: string): string {
  // Texts that name the execution lie between these two: the column is JSON.
  const start = `'{"execution_id":"' || asked.execution_id || '"`;
  return `
    SELECT asked.execution_id, p.execution_id AS needed_by FROM ${asked}
      JOIN executions AS e ON e.execution_id = asked.execution_id
      JOIN executions AS p ON p.execution_id = e.parent_id
    UNION ALL
    SELECT asked.execution_id, f.execution_id AS needed_by FROM ${asked}
      JOIN executions AS f ON f.forked_from IS NOT NULL
        AND f.forked_from >= ${start},' AND f.forked_from < ${start}-'`;
}

/** An execution that retention looks at. */
export interface Looked {
  readonly execution_id: string;
  readonly created_at: number;
  readonly finished_at: number | null;
}

export interface Look {
  /** Executions behind an id, in order; fewer than it might are the last ones. */
  read(after: string): Promise<readonly Looked[]>;
  /** How many `read` answers at most. */
  readonly size: number;
  /** Deletes those of them that nothing needs; answers which. */
  delete(execution_ids: readonly string[]): Promise<readonly string[]>;
}

/**
 * Looks for finished executions in the order of ids, which is that of creation, a few at a time. It
 * goes on where it was: what has to be kept is not looked at again until the end was reached.
 */
export class ExpiredExecutions {
  #after = "";

  /** Answers fewer than `limit` once it has come to the end. */
  async delete(before: number, limit: number, look: Look): Promise<readonly string[]> {
    const deleted: string[] = [];
    while (deleted.length < limit) {
      const page = await look.read(this.#after);
      const expired = page
        .filter(({ finished_at }) => finished_at !== null && finished_at < before)
        .map(({ execution_id }) => execution_id);
      const some = expired.slice(0, limit - deleted.length);
      if (some.length > 0) deleted.push(...(await look.delete(some)));
      if (some.length < expired.length) {
        this.#after = some.at(-1) ?? "";
        continue;
      }
      // What was created later cannot have ended before.
      const isEnd = page.length < look.size || page.every((row) => row.created_at >= before);
      this.#after = isEnd ? "" : (page.at(-1)?.execution_id ?? "");
      if (isEnd) break;
    }
    return deleted;
  }
}
