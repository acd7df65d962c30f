import * as fc from "fast-check";
import { expect, test } from "vitest";
import { commonGrants } from "./common-grants.ts";
import { rightsInBoth, rightsOf } from "./grants.ts";

test("AUTH-13 what two lists of grants give in common is shown as a list", () => {
  expect(commonGrants(["*"], ["workflow:shop:*"])).toEqual(["workflow:shop:*"]);
  expect(commonGrants(["workflow:*:*:read"], ["workflow:shop:*"])).toEqual([
    "workflow:shop:*:read",
  ]);
  expect(commonGrants(["hook:a:read"], ["hook:b:read", "hook:*"])).toEqual(["hook:a:read"]);
  expect(commonGrants(["hook:a"], ["hook:a:read"])).toEqual([]);
  expect(commonGrants(["a:*:*"], ["*:b"])).toEqual(["a:b"]);
  expect(commonGrants([], ["*"])).toEqual([]);
});

const segment = fc.constantFrom("*", "a", "b");
const grant = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(":"));
const grants = fc.array(grant, { maxLength: 3 });

test("AUTH-13 AUTH-26 the list gives what both give, and nothing else", () => {
  fc.assert(
    fc.property(grants, grants, grant, (one, other, permission) => {
      const both = rightsInBoth(rightsOf(one), rightsOf(other)).holds(permission);
      expect(rightsOf(commonGrants(one, other)).holds(permission)).toBe(both);
    }),
  );
});
