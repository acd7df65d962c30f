import { expect, test } from "vitest";
import { accountOf, asking } from "../auth/testing/asking.ts";
import { guardedServer } from "../auth/testing/guarded-server.ts";

const SOURCE = `import { task, workflow } from "@engine/sdk";
import { z } from "zod";
const charge = task({ name: "charge" }, async (input) => input);
/** Charges. */
export const pay = workflow({ name: "pay", namespace: "shop", input: z.any() }, async (input) => charge(input));
/** Closes the books. */
export const close = workflow({ name: "close", namespace: "shop" }, async (input) => input);
`;
const RUN = "workflow:shop:pay:run";
const CHARGE = "workflow:shop:pay:task:charge:execute";
const READ = "workflow:shop:pay:read";

/** A server with a service of namespace shop, and accounts of some permissions. */
async function guarded() {
  const server = await guardedServer();
  const admin = asking(server, server.adminKey);
  await admin("POST", "/workflows", { source: SOURCE });
  await admin("POST", "/services", { name: "shop", namespaces: ["shop"] });
  let accounts = 0;
  const account = async (...permissions: readonly string[]) => {
    const subject = `account-${++accounts}`;
    await admin("POST", "/admin/roles", { name: subject, permissions });
    return asking(server, await accountOf(admin, subject, [subject]));
  };
  return { server, admin, account };
}

const missing = ({ status, body }: { status: number; body: { error: { details: object } } }) => {
  const { missing_permissions = [] } = body.error.details as { missing_permissions?: string[] };
  return [status, ...missing_permissions];
};

test("SVC-36 SVC-20 a call takes what running the workflow takes, and nothing of the service", async () => {
  const { account } = await guarded();
  const runner = await account(RUN, CHARGE);
  const started = await runner("POST", "/services/shop/pay/async", 1);
  expect([started.status, started.body.state]).toEqual([202, "CREATED"]);
  expect(missing(await runner("GET", "/services/shop"))).toEqual([403, "service:shop:read"]);

  const half = await account(RUN);
  expect(missing(await half("POST", "/services/shop/pay", 1))).toEqual([403, CHARGE]);
  // Whoever may do all with services may run nothing of theirs.
  const manager = await account("service:*");
  expect(missing(await manager("POST", "/services/shop/pay", 1))).toEqual([403, RUN]);
  expect((await manager("PUT", "/services/shop", { add_workflows: ["bank/x"] })).status).toBe(200);
});

test("SVC-34 SVC-33 who started an execution may follow it, others need to read the workflow", async () => {
  const { account } = await guarded();
  const ann = await account(RUN, CHARGE);
  const bob = await account(RUN, CHARGE);
  const reader = await account(READ);
  const { execution_id } = (await ann("POST", "/services/shop/pay/async", 1)).body;
  const status = `/services/shop/pay/status/${execution_id}`;
  expect((await ann("GET", status)).status).toBe(200);
  expect((await reader("GET", status)).status).toBe(200);
  expect(missing(await bob("GET", status))).toEqual([403, READ]);
  // Before whether it is there.
  const unknown = await (await account("service:*"))("GET", "/services/shop/pay/status/none");
  expect(missing(unknown)).toEqual([403, READ, RUN]);
  const resume = "/services/shop/pay/resume/none/async";
  expect(missing(await reader("POST", resume, 1))).toEqual([403, RUN, CHARGE]);
  expect((await bob("POST", resume, 1)).status).toBe(404);
});

test("SVC-7 SVC-20 what a caller may not know of an endpoint is its name alone", async () => {
  const { account, admin } = await guarded();
  const endpoints = async (ask: typeof admin) =>
    (await ask("GET", "/services/shop")).body.endpoints;
  expect(await endpoints(admin)).toMatchObject([
    { name: "close", description: "Closes the books.", can_run: true },
    { name: "pay", description: "Charges.", can_run: true },
  ]);
  const reads = await account("service:shop:read", "workflow:shop:pay:read");
  expect(await endpoints(reads)).toMatchObject([
    { name: "close", ref: "shop/close", description: null, input_schema: null, can_run: false },
    { name: "pay", description: "Charges.", can_run: false },
  ]);
  const half = await account("service:shop:read", RUN);
  expect((await endpoints(half))[1]).toMatchObject({ description: "Charges.", can_run: false });
});

test("SVC-11 SVC-19 a list has the services that its caller may read, and says that it is a part", async () => {
  const { account, admin } = await guarded();
  for (const name of ["a", "b"]) await admin("POST", "/services", { name });
  const list = async (ask: typeof admin, query = "") => {
    const { body } = await ask("GET", `/services${query}`);
    return [body.items.map(({ name }: { name: string }) => name), body.total, body.auth_filtered];
  };
  expect(await list(admin)).toEqual([["a", "b", "shop"], 3, false]);
  expect(await list(admin, "?limit=1&offset=1")).toEqual([["b"], 3, false]);
  expect(await list(await account("service:shop:read"))).toEqual([["shop"], 1, true]);
  const nobody = await account(RUN);
  expect(missing(await nobody("GET", "/services"))).toEqual([403, "service:*:read"]);
  expect((await admin("GET", "/services?limit=501")).status).toBe(422);
});

test("SVC-18 a right is asked for before what is there, and that of a new name before whether it is taken", async () => {
  const { account, server } = await guarded();
  const manager = await account("service:mine:manage");
  expect((await server.ask("/services/shop")).status).toBe(401);
  for (const name of ["shop", "none"]) {
    const refused = await manager("PUT", `/services/${name}`, { unknown: 1 });
    expect(missing(refused)).toEqual([403, `service:${name}:manage`]);
  }
  expect((await manager("PUT", "/services/mine", { unknown: 1 })).status).toBe(422);
  expect((await manager("PUT", "/services/mine", {})).status).toBe(404);
  expect((await manager("POST", "/services", { name: "SHOP" })).status).toBe(422);
  const taken = await manager("POST", "/services", { name: "shop" });
  expect(missing(taken)).toEqual([403, "service:shop:manage"]);
  expect((await manager("POST", "/services", { name: "mine" })).status).toBe(201);
  expect((await manager("POST", "/services", { name: "mine" })).body.error.code).toBe(
    "service_exists",
  );
});

test("SVC-16 SVC-58 the document of a service has what its caller may know, and says that a token is needed", async () => {
  const { account, admin } = await guarded();
  const paths = async (ask: typeof admin) => {
    const { body } = await ask("GET", "/services/shop/openapi.json");
    return Object.keys(body.paths).filter((path) => /^.services.shop.\w+$/.test(path));
  };
  expect(await paths(admin)).toEqual(["/services/shop/close", "/services/shop/pay"]);
  expect(await paths(await account("service:shop:read", RUN))).toEqual(["/services/shop/pay"]);
  const { body } = await admin("GET", "/services/shop/openapi.json");
  expect(body).toMatchObject({
    ...{ security: [{ bearer: [] }], components: { securitySchemes: { bearer: {} } } },
    info: { title: "shop" },
  });
  const runner = await account(RUN, CHARGE);
  expect(missing(await runner("GET", "/services/shop/openapi.json"))).toEqual([
    ...[403, "service:shop:read"],
  ]);
});
