import * as z from "zod";

const MOST_SEGMENTS = 12;
const LONGEST_GRANT = 512;
const SEGMENT = /^(?:\*|[A-Za-z0-9_.@-]{1,257})$/;
const PLACEHOLDER = /^\{(\w+)\}$/;

/**
 * A permission that somebody holds: segments joined by `:`, each a word or exactly `*` (AUTH-25).
 *
 * @example "workflow:shop:*:read"
 */
export const Grant = z
  .string()
  .max(LONGEST_GRANT, `must be at most ${LONGEST_GRANT} characters`)
  .refine(isGrant, {
    error: ({ input }) =>
      `must be 1 to ${MOST_SEGMENTS} segments joined by ":", each "*" or made of letters, digits and "_.@-", as "workflow:shop:*:read"; got ${JSON.stringify(input)}`,
  });

function isGrant(text: string): boolean {
  const segments = text.split(":");
  return segments.length <= MOST_SEGMENTS && segments.every((segment) => SEGMENT.test(segment));
}

/**
 * What a row may be seen by: values of a permission's placeholders; one that is left out is any.
 */
export type Seen = Readonly<Record<string, string>>;

/** What a caller holds, as far as one request has to know. */
export interface Rights {
  /**
   * Whether a permission is held, such as `workflow:shop:refund:run`; a `*` in it stands for itself.
   */
  holds(permission: string): boolean;
  /** What is seen by a permission with placeholders, such as `workflow:{ns}:{wf}:read`. */
  seenBy(permission: string): readonly Seen[];
}

/**
 * Whether a grant gives a permission (AUTH-26). `*` is one segment, at the end of the grant any number
 * of them, none included. A `*` in the permission itself is given by a `*` at its place, or by one at
 * the grant's end that covers it.
 */
export function gives(grant: string, permission: string): boolean {
  return leftOf(grant.split(":"), permission.split(":")) !== undefined;
}

/** Whether everything that a grant gives is given by another one, too (AUTH-21). */
export function covers(grant: string, other: string): boolean {
  const needed = other.split(":");
  // There is no permission without a segment: `*:*` gives all that `*` does.
  const held = grant === "*:*" ? ["*"] : grant.split(":");
  const isOpen = held.at(-1) === "*";
  // `a:*` gives any number of segments: only a grant that ends in `*` no later gives as much.
  if (needed.at(-1) === "*" && !(isOpen && held.length <= needed.length)) return false;
  return leftOf(held, needed) !== undefined;
}

/** Rights by a list of grants. */
export function rightsOf(grants: readonly string[]): Rights {
  const split = grants.map((grant) => grant.split(":"));
  return {
    holds(permission) {
      const needed = permission.split(":");
      return split.some((held) => leftOf(held, needed) !== undefined);
    },
    seenBy(permission) {
      const needed = permission.split(":");
      return split.map((held) => leftOf(held, needed)).filter((seen) => seen !== undefined);
    },
  };
}

/** What is held by both: the rights of a key that is narrower than its principal (AUTH-13). */
export function rightsInBoth(one: Rights, other: Rights): Rights {
  return {
    holds: (permission) => one.holds(permission) && other.holds(permission),
    seenBy(permission) {
      const others = other.seenBy(permission);
      return one
        .seenBy(permission)
        .flatMap((a) => others.map((b) => bothOf(a, b)))
        .filter((seen) => seen !== undefined);
    },
  };
}

function bothOf(one: Seen, other: Seen): Seen | undefined {
  const differ = Object.entries(one).some(([name, value]) => (other[name] ?? value) !== value);
  return differ ? undefined : { ...one, ...other };
}

/**
 * What a grant leaves of a permission's placeholders; undefined where it does not give the permission
 * whatever they are.
 */
function leftOf(held: readonly string[], needed: readonly string[]): Seen | undefined {
  const last = held.length - 1;
  const isOpen = held[last] === "*";
  if (isOpen ? needed.length < last : needed.length !== held.length) return undefined;
  let seen: Record<string, string> | undefined;
  for (let i = 0; i < needed.length; i++) {
    if (isOpen && i >= last) break;
    const given = held[i] as string;
    const segment = needed[i] as string;
    if (given === "*" || given === segment) continue;
    const placeholder = PLACEHOLDER.exec(segment)?.[1];
    if (placeholder === undefined) return undefined;
    seen ??= {};
    // The same placeholder twice has one value.
    if ((seen[placeholder] ?? given) !== given) return undefined;
    seen[placeholder] = given;
  }
  return seen ?? NOTHING_LEFT;
}

const NOTHING_LEFT: Seen = Object.freeze({});
