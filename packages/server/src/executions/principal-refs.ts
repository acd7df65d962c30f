import type { ExecutionRow, PrincipalRef } from "@engine/contract";
import type { Store } from "@engine/store";

/** How a record shows the principal of an id; null for nobody. */
export type Who = (id: string | null) => PrincipalRef | null;

type Owned = Pick<ExecutionRow, "started_by" | "run_as">;

/** Principals that are remembered; beyond them all are looked up anew. */
const MOST = 10_000;

/** Without authorization executions are nobody's. */
export const NOBODY: Who = () => null;

/** Who started executions, and whose rights they have, as records show it (AUTH-34). */
export class PrincipalRefs {
  readonly #store: { readonly principalRefs: Pick<Store["principalRefs"], "refs"> };
  /** What is shown of a principal never changes. */
  #known = new Map<string, PrincipalRef>();

  constructor({ store }: { readonly store: Pick<Store, "principalRefs"> }) {
    this.#store = store;
  }

  /** Without a question to the store; undefined where it takes one. */
  known(row: Owned): Who | undefined {
    const { started_by, run_as } = row;
    if (started_by === null && run_as === null) return NOBODY;
    const known = this.#known;
    const isKnown = [started_by, run_as].every((id) => id === null || known.has(id));
    return isKnown ? whoIn(known) : undefined;
  }

  /** Of all these rows, with one question at most. */
  async of(rows: readonly Owned[]): Promise<Who> {
    const ids = new Set(rows.flatMap((row) => [row.started_by, row.run_as]));
    ids.delete(null);
    if (ids.size === 0) return NOBODY;
    const wanted = new Map<string, PrincipalRef>();
    const missing: string[] = [];
    for (const id of ids as Set<string>) {
      const ref = this.#known.get(id);
      if (ref) wanted.set(id, ref);
      else missing.push(id);
    }
    const found = missing.length > 0 ? await this.#store.principalRefs.refs(missing) : [];
    if (this.#known.size + found.length > MOST) this.#known = new Map();
    for (const { id, subject, issuer, type } of found) {
      const ref = { subject, issuer, type };
      wanted.set(id, ref);
      this.#known.set(id, ref);
    }
    return whoIn(wanted);
  }
}

function whoIn(known: ReadonlyMap<string, PrincipalRef>): Who {
  return (id) => (id === null ? null : (known.get(id) ?? null));
}
