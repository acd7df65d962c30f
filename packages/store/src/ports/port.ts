/**
 * A port is the part of a store that keeps one domain. Each of its methods says how it is asked; the
 * failpoints, the faults of the simulation and what the sweep has to hit follow from that.
 */

/**
 * - `read`: of the database, without a change
 * - `write`: a transaction of its own, which is a failpoint before and after
 * - `commit`: of executions, in a group commit; too many for that, they have failpoints of their own
 * - `shared`: between servers on one database, a failpoint where there can be several
 * - `itself`: no question to the database
 */
export type MethodKind = "read" | "write" | "commit" | "shared" | "itself";

/** How each method of a port is asked: one that is missing does not compile. */
export type Kinds<Port> = { readonly [Method in keyof Port]-?: MethodKind };

/** A page of something, with the number of all matches. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}
