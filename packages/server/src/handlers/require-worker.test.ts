import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { accountOf, asking } from "../auth/testing/asking.ts";
import { guardedServer } from "../auth/testing/guarded-server.ts";
import { joining } from "../auth/testing/joining-worker.ts";

const SOURCE = `import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge" }, async (input) => input);
export const pay = workflow({ name: "pay" }, async (input) => charge(input));
`;
const RUN = "workflow:default:pay:run";
const CHARGE = "workflow:default:pay:task:charge:execute";

/** Every route that takes the header, with what its path says of the right to run. */
const ROUTES: readonly [path: string, ...run: string[]][] = [
  ["/workflows/default/pay/run/async", RUN],
  ["/workflows/pay/run/async", RUN],
  ["/pay?timeout=0.01"],
];

test.each(ROUTES)(
  "AUTH-59 AUTH-30 POST %s for a worker takes the right to choose that worker, before it is looked up",
  async (path, ...run) => {
    const guarded = await guardedServer();
    const admin = asking(guarded, guarded.adminKey);
    await admin("POST", "/workflows", { source: SOURCE });
    const bootstrap = readFileSync(join(guarded.home, "bootstrap-token"), "utf8").trim();
    for (const name of ["fast", "slow"]) await joining(guarded, name, bootstrap);
    const permissions = ["worker:fast:target", "worker:ghost:target"];
    await admin("POST", "/admin/roles", { name: "aiming", permissions });
    const keys = {
      viewer: await accountOf(admin, "viewer", ["viewer"]),
      operator: await accountOf(admin, "operator", ["operator"]),
      aiming: await accountOf(admin, "aiming", ["operator", "aiming"]),
      running: await accountOf(admin, "running", ["aiming"]),
      admin: guarded.adminKey ?? "",
    };
    const ask = async (who: keyof typeof keys, worker?: string) => {
      const response = await fetch(guarded.server.url + path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${keys[who]}`,
          ...(worker !== undefined && { "x-engine-require-worker": worker }),
        },
      });
      const { error } = (await response.json()) as {
        error?: { code: string; details: { missing_permissions?: string[] } };
      };
      const { missing_permissions: missing } = error?.details ?? {};
      return missing ? [response.status, ...missing] : [response.status, error?.code];
    };
    const started = [202, undefined];
    // Without it nobody is asked for that right.
    expect(await ask("operator")).toEqual(started);
    expect(await ask("operator", "fast")).toEqual([403, "worker:fast:target"]);
    expect(await ask("operator", "ghost")).toEqual([403, "worker:ghost:target"]);
    expect(await ask("viewer", "fast")).toEqual([403, RUN, CHARGE, "worker:fast:target"]);
    expect(await ask("running", "slow")).toEqual([403, ...run, "worker:slow:target"]);
    expect(await ask("aiming", "fast")).toEqual(started);
    expect(await ask("aiming", "slow")).toEqual([403, "worker:slow:target"]);
    expect(await ask("aiming", "ghost")).toEqual([422, "unknown_worker"]);
    // One name is one segment of the permission, whatever it is.
    expect(await ask("aiming", "*")).toEqual([403, "worker:*:target"]);
    expect(await ask("aiming", "fast, slow")).toEqual([403, "worker:fast, slow:target"]);
    expect(await ask("admin", "slow")).toEqual(started);
    expect(await ask("admin", "ghost")).toEqual([422, "unknown_worker"]);
  },
);
