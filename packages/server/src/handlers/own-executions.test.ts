import { expect, test } from "vitest";
import { accountOf, asking } from "../auth/testing/asking.ts";
import { guardedServer } from "../auth/testing/guarded-server.ts";

const SOURCE = `import { workflow } from "@engine/sdk";
export const pay = workflow({ name: "pay" }, async (input) => input);
`;
const RUN = "workflow:default:pay:run";
const READ = "workflow:default:pay:read";

test("AUTH-59 who may only run a workflow follows what it started or what runs as it, and nothing else", async () => {
  const guarded = await guardedServer();
  const admin = asking(guarded, guarded.adminKey);
  await admin("POST", "/workflows", { source: SOURCE });
  await admin("POST", "/admin/roles", { name: "running", permissions: [RUN] });
  const key = await accountOf(admin, "ann", ["running"]);
  const ann = asking(guarded, key);
  const bob = asking(guarded, await accountOf(admin, "bob", ["running"]));
  const start = async (ask: typeof ann): Promise<string> =>
    (await ask("POST", "/workflows/default/pay/run/async", 1)).body.execution_id;
  const follow = async (ask: typeof ann, id: string) => {
    const { status, body } = await ask("GET", `/workflows/default/pay/status/${id}`);
    return status === 200 ? body.execution_id : [status, ...body.error.details.missing_permissions];
  };
  const anns = await start(ann);
  const bobs = await start(bob);
  expect(await follow(ann, anns)).toBe(anns);
  expect(await follow(ann, bobs)).toEqual([403, READ]);
  expect(await follow(bob, anns)).toEqual([403, READ]);
  expect(await follow(admin, anns)).toBe(anns);

  // What runs as it is its own, too, and what it started stays so.
  await admin("PUT", `/executions/${bobs}/principal`, { subject: "ann" });
  expect(await follow(ann, bobs)).toBe(bobs);
  expect(await follow(bob, bobs)).toBe(bobs);

  // Nothing but the status follows from that.
  for (const path of ["", "/events", "/history"]) {
    const { status, body } = await ann("GET", `/executions/${anns}${path}`);
    const { missing_permissions } = body.error.details;
    expect([status, ...missing_permissions], path).toEqual([403, "execution:*:read"]);
  }
  // It follows from both: the right to run, and that it is its own.
  await admin("DELETE", "/admin/principals/ann/roles/running");
  expect(await follow(ann, anns)).toEqual([403, READ, RUN]);
  // An account of the same name is another one.
  await admin("DELETE", "/admin/principals/ann?force=true");
  const later = asking(guarded, await accountOf(admin, "ann", ["running"]));
  expect(await follow(later, anns)).toEqual([403, READ]);
});
