import { type Route, routes } from "@engine/contract";
import { expect, test } from "vitest";
import { isToldOf } from "./told-of.ts";

test("AUD-2 reads are told of but for those that anybody may make, those of workers, and those with a row of their own", () => {
  const told = (route: Route) => isToldOf(route);
  const { system, auth, executions, catalog, workers, secrets } = routes;
  expect(executions.get.effect).toBe("read");
  for (const route of [executions.get, executions.list, catalog.get, auth.whoami, auth.check]) {
    expect(told(route), route.path).toBe(true);
  }
  for (const route of [system.health, system.ready, auth.config]) {
    expect(told(route), route.path).toBe(false);
  }
  for (const route of Object.values<Route>(workers)) expect(told(route), route.path).toBe(false);
  expect(told(secrets.get)).toBe(false);
  expect(told(secrets.list)).toBe(true);
  expect(told(executions.run)).toBe(false);
  // A write, although its method is that of a read.
  expect(told(executions.cancelLink)).toBe(false);
});
