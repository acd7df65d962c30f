import { expect, test } from "vitest";
import {
  all,
  any,
  grant,
  identity,
  open,
  permissionText,
  run,
  scoped,
  worker,
} from "./permission.ts";
import { routes } from "./routes.ts";

test("permissions print in the notation of the authorization rules", () => {
  expect([open, identity, worker].map(permissionText)).toEqual(["open", "identity", "worker"]);
  expect(permissionText(grant("workflow:{ns}:{wf}:read"))).toBe("workflow:{ns}:{wf}:read");
  expect(permissionText(run("{ns}/{wf}"))).toBe("run({ns}/{wf})");
  expect(permissionText(scoped("a:{ns}:read"))).toBe("scoped(a:{ns}:read)");
  expect(permissionText(all(grant("a"), grant("b")))).toBe("a + b");
  expect(permissionText(any(grant("a"), all(grant("b"), grant("c"))))).toBe("a | b + c");
  expect(permissionText(all(any(grant("a"), grant("b")), grant("c")))).toBe("(a | b) + c");
});

test("AUTH-7 every row says what it needs and whether it writes", () => {
  for (const [group, rows] of Object.entries(routes)) {
    for (const [name, route] of Object.entries(rows)) {
      expect(permissionText(route.permission), `${group}.${name}`).not.toBe("");
      expect(["read", "write"], `${group}.${name}`).toContain(route.effect);
    }
  }
});

test("the placeholders of a permission are those of its path, or of what the handler looks up", () => {
  const lookedUp = new Set([
    "hook",
    "name",
    "namespace",
    "ns",
    "principal",
    "run_as",
    "schedule",
    "secret",
    "subject",
    "wf",
  ]);
  for (const rows of Object.values(routes)) {
    for (const route of Object.values(rows)) {
      const inPath = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
      const needed = Array.from(
        permissionText(route.permission).matchAll(/\{(\w+)\}/g),
        ([, n]) => n,
      );
      for (const name of needed) {
        expect(inPath.includes(name) || lookedUp.has(name ?? ""), `${route.path} {${name}}`).toBe(
          true,
        );
      }
    }
  }
});
