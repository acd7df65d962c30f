/** `FUZZ_RUNS` sets how many inputs each property sees. */
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { grantWarnings, PERMISSION_FAMILIES } from "./families.ts";
import { covers, Grant, gives, rightsInBoth, rightsOf } from "./grants.ts";
import { BUILT_IN_ROLES } from "./roles.ts";

// There are no types of Node here: the package runs elsewhere too.
const { process } = globalThis as { process?: { env: Record<string, string> } };
const numRuns = Number(process?.env["FUZZ_RUNS"] ?? 1000);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });

test.each([
  ["hook:*", "hook:billing:read", true],
  ["hook:*", "hook:deliveries:retry", true],
  ["hook:*", "hook:*:create", true],
  ["hook:*:read", "hook:deliveries:read", true],
  ["hook:*:read", "hook:*:read", true],
  ["hook:billing:read", "hook:*:read", false],
  ["workflow:*:*:read", "workflow:a:b:task:t:approve", false],
  ["workflow:a:*", "workflow:a:b:task:t:execute", true],
  ["workflow:a:*", "workflow:a:*:register", true],
  ["principal:bot@acme.com:impersonate", "principal:bot@acme.com:impersonate", true],
  // What the rules say besides.
  ["*", "anything", true],
  ["*", "workflow:*:*:read", true],
  ["hook:*", "hook", true],
  ["hook:*", "hooks:x", false],
  ["hook:*:read", "hook:read", false],
  ["hook:*:read", "hook:a:b:read", false],
  ["Hook:*", "hook:a:read", false],
  ["*:*:read", "hook:a:read", true],
  ["workflow:*:*:register", "workflow:a:*:register", true],
  ["workflow:a:b:register", "workflow:a:*:register", false],
])("AUTH-26 grant %s gives %s: %s", (grant, permission, expected) => {
  expect(gives(grant, permission)).toBe(expected);
  expect(rightsOf([grant]).holds(permission)).toBe(expected);
});

/**
 * The reference: a grant as a regular expression over the text of a permission, straight from the words
 * of AUTH-26.
 */
function isGiven(grant: string, permission: string): boolean {
  const segments = grant.split(":");
  const isOpen = segments.at(-1) === "*";
  const fixed = isOpen ? segments.slice(0, -1) : segments;
  const patterns = fixed.map((segment) =>
    segment === "*" ? "[^:]+" : segment.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
  );
  if (!isOpen) return new RegExp(`^${patterns.join(":")}$`).test(permission);
  if (patterns.length === 0) return true;
  return new RegExp(`^${patterns.join(":")}(?::.*)?$`).test(permission);
}

const word = fc.constantFrom("a", "b", "c", "a.b", "task", "*");
const grant = fc.array(word, { minLength: 1, maxLength: 6 }).map((all) => all.join(":"));
const name = fc.constantFrom("a", "b", "c", "a.b", "task");

test("AUTH-26 whatever the grant and the permission, a plain matcher says the same", () => {
  fc.assert(
    fc.property(grant, grant, (held, needed) => {
      expect(gives(held, needed)).toBe(isGiven(held, needed));
    }),
    { numRuns },
  );
});

/** Every permission of at most so many segments, as far as two grants can tell them apart. */
function permissionsUpTo(length: number): readonly string[] {
  // `z` stands for all the words that no grant names; `*` may stand in a permission itself.
  const words = ["a", "b", "c", "a.b", "task", "*", "z"];
  let longest: readonly string[] = words;
  const all = [...longest];
  for (let n = 2; n <= length; n++) {
    longest = longest.flatMap((start) => words.map((one) => `${start}:${one}`));
    all.push(...longest);
  }
  return all;
}

const SHORT = permissionsUpTo(4);
const shortGrant = fc.array(word, { minLength: 1, maxLength: 3 }).map((all) => all.join(":"));

test("AUTH-21 a grant covers another exactly when it gives whatever that gives", () => {
  fc.assert(
    fc.property(shortGrant, shortGrant, (held, other) => {
      const isCovered = SHORT.every((one) => !isGiven(other, one) || isGiven(held, one));
      expect(covers(held, other)).toBe(isCovered);
    }),
    { numRuns: Math.min(numRuns, 2000) },
  );
});

test("AUTH-21 every permission has a segment: *:* covers * and the other way round", () => {
  expect([covers("*:*", "*"), covers("*", "*:*"), covers("*:*:*", "*")]).toEqual([
    true,
    true,
    false,
  ]);
});

test("AUTH-21 covering goes on: who covers one who covers a third covers the third", () => {
  fc.assert(
    fc.property(grant, grant, grant, (a, b, c) => {
      expect(covers(a, a)).toBe(true);
      if (covers(a, b) && covers(b, c)) expect(covers(a, c)).toBe(true);
    }),
    { numRuns },
  );
});

const slot = fc.constantFrom("{ns}", "{wf}");
const form = fc
  .array(fc.oneof(slot, word), { minLength: 1, maxLength: 5 })
  .map((all) => all.join(":"));

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, key: string) => values[key] ?? "");
}

test("AUTH-33 what is seen by a permission is exactly what its filled forms allow", () => {
  fc.assert(
    fc.property(fc.array(grant, { maxLength: 4 }), form, name, name, (held, needed, ns, wf) => {
      const values: Record<string, string> = { ns, wf };
      const isSeen = rightsOf(held)
        .seenBy(needed)
        .some((seen) => Object.entries(seen).every(([key, value]) => values[key] === value));
      const isAllowed = held.some((one) => isGiven(one, filled(needed, values)));
      expect(isSeen).toBe(isAllowed);
    }),
    { numRuns },
  );
});

test("AUTH-13 rights in both are what each of them gives, in lists as well", () => {
  const some = fc.array(grant, { maxLength: 3 });
  fc.assert(
    fc.property(some, some, form, name, name, (one, other, needed, ns, wf) => {
      const values: Record<string, string> = { ns, wf };
      const permission = filled(needed, values);
      const both = rightsInBoth(rightsOf(one), rightsOf(other));
      const isAllowed = [one, other].every((all) => all.some((held) => isGiven(held, permission)));
      expect(both.holds(permission)).toBe(isAllowed);
      const isSeen = both
        .seenBy(needed)
        .some((seen) => Object.entries(seen).every(([key, value]) => values[key] === value));
      expect(isSeen).toBe(isAllowed);
    }),
    { numRuns },
  );
});

test.each([
  ["one segment", "a", true],
  ["the longest segment", "x".repeat(257), true],
  ["twelve segments", Array(12).fill("a").join(":"), true],
  ["all letters that there are", "A-z_0.9:me@host:*", true],
  ["512 characters", `${"x".repeat(255)}:${"y".repeat(256)}`, true],
  ["nothing", "", false],
  ["an empty segment", "a::b", false],
  ["a colon at the end", "a:", false],
  ["thirteen segments", Array(13).fill("a").join(":"), false],
  ["a segment that is too long", "x".repeat(258), false],
  ["513 characters", `${"x".repeat(256)}:${"y".repeat(256)}`, false],
  ["a part of a wildcard", "hook:bill*:read", false],
  ["two asterisks", "hook:**", false],
  ["a space", "hook: a:read", false],
  ["a line break", "hook:a\n", false],
  ["a slash", "workflow:a/b:run", false],
  ["a placeholder", "workflow:{ns}:*:run", false],
  ["another alphabet", "hook:ü:read", false],
  ["no text", 7, false],
])("AUTH-25 a grant of %s", (_, text, expected) => {
  expect(Grant.safeParse(text).success).toBe(expected);
});

test("AUTH-25 a refusal names the grant that is wrong", () => {
  const [issue] = Grant.safeParse("hook:bill*:read").error?.issues ?? [];
  expect(issue?.message).toContain('got "hook:bill*:read"');
});

test("AUTH-28 every family is given by a grant for it, and none is warned of", () => {
  const grants = PERMISSION_FAMILIES.map((family) => family.replace(/\{\w+\}/g, "x-1"));
  for (const one of grants) expect(Grant.safeParse(one).success).toBe(true);
  expect(grantWarnings(grants)).toEqual([]);
  expect(
    grantWarnings(PERMISSION_FAMILIES.map((family) => family.replace(/\{\w+\}/g, "*"))),
  ).toEqual([]);
});

test("AUTH-27 where the literal * is required, the name of one thing does not do", () => {
  const literal = PERMISSION_FAMILIES.filter((family) => family.includes(":*"));
  expect(literal).toEqual(["workflow:{ns}:*:register", "execution:*:read", "hook:*:create"]);
  for (const family of literal) {
    const required = family.replace("{ns}", "a");
    expect(gives(required, required)).toBe(true);
    expect(gives(required.replace("*", "one"), required)).toBe(false);
  }
  // Lists and fleet-wide reads, by a form that also names one thing.
  for (const required of ["hook:*:read", "agent:*:read", "worker:*:read", "agent:*:create"]) {
    expect(gives(required, required)).toBe(true);
    expect(gives(required.replace("*", "one"), required)).toBe(false);
    expect(grantWarnings([required])).toEqual([]);
  }
});

test("AUTH-25 a grant that gives nothing is warned of by name", () => {
  const idle = [
    "hoook:*",
    "hook:billing:reed",
    "hook:billing:create",
    "execution:one:read",
    "workflow:a:read",
    "workflow:a:b:task:t",
    "admin:principals:delete",
    "workflow:a:b:task:t:execute:more:*",
  ];
  const used = ["*", "hook:*", "admin:*", "workflow:a:b:*", "*:*:read", "workflow:a:*:*:t:*"];
  const warnings = grantWarnings([...idle, ...used]);
  expect(warnings).toHaveLength(idle.length);
  idle.forEach((one, n) => {
    expect(warnings[n]).toContain(one);
  });
});

test("AUTH-29 the built-in roles give what is written of them", () => {
  const permissions = Object.entries(BUILT_IN_ROLES).map(([role, row]) => [role, row.permissions]);
  expect(Object.fromEntries(permissions)).toEqual({
    admin: ["*"],
    operator: [
      "workflow:*:*:run",
      "workflow:*:*:read",
      "workflow:*:*:register",
      "workflow:*:*:task:*:execute",
      "workflow:*:*:task:*:approve",
      "execution:*:read",
      "schedule:*",
      "agent:*",
      "service:*",
      "config:*",
      "worker:*:read",
      "secret:*:use",
      "hook:*",
      "hook:deliveries:read",
      "hook:deliveries:retry",
    ],
    viewer: [
      "workflow:*:*:read",
      "execution:*:read",
      "schedule:*:read",
      "agent:*:read",
      "service:*:read",
      "config:*:read",
      "worker:*:read",
      "hook:*:read",
      "hook:deliveries:read",
    ],
    worker: ["worker:*:connect"],
  });
  const all = Object.values(BUILT_IN_ROLES).flatMap((role): readonly string[] => role.permissions);
  expect(grantWarnings(all)).toEqual([]);
});

test("AUTH-30 of the built-in roles only admin impersonates, reads secrets, aims at workers and administers", () => {
  for (const [role, { permissions }] of Object.entries(BUILT_IN_ROLES)) {
    const rights = rightsOf(permissions);
    const isAdmin = role === "admin";
    for (const kept of [
      "principal:{subject}:impersonate",
      "secret:{name}:read",
      "secret:{name}:manage",
      "worker:{name}:target",
      ...PERMISSION_FAMILIES.filter((family) => family.startsWith("admin:")),
    ]) {
      expect([role, kept, rights.seenBy(kept).length > 0]).toEqual([role, kept, isAdmin]);
    }
    // To make code run unattended takes no less than to bring code in.
    if (rights.holds("hook:*:create")) expect(rights.holds("workflow:a:*:register")).toBe(true);
  }
});
