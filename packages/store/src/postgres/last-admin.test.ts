/** Two servers lock out an admin each at the same moment: one of the two stays (AUTH-20). */
import { Client } from "pg";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { identityWrite, madePrincipal, newKey } from "../conformance/identity.ts";
import { opened } from "../conformance/opened.ts";
import { NOW } from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

vi.setConfig({ testTimeout: 60_000 });

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const LOGINS = { api_keys: true, oidc_issuer: null };
const write = (action: string) => identityWrite(action, {}, { logins: LOGINS });

/** Whatever takes from somebody, whose role and key have names of their own, what makes an admin. */
const WAYS: Readonly<Record<string, (store: Store, who: string) => Promise<unknown>>> = {
  disable: ({ principals }, who) =>
    principals.change(who, () => ({ enabled: false }), write("principals.disable")),
  ban: ({ principals }, who) =>
    principals.change(who, () => ({ enabled: false, banned: true }), write("principals.ban")),
  "revoke the role": ({ principals }, who) =>
    principals.revokeRole(who, roleOf(who), write("principals.revokeRole")),
  "revoke the key": ({ keys }, who) => keys.delete(who, "k", write("principals.revokeKey")),
  "narrow the role": ({ roles }, who) =>
    roles.change(roleOf(who), () => ({ permissions: ["hook:*"] }), write("roles.update")),
  "delete the role": ({ roles }, who) =>
    roles.delete(roleOf(who), { force: true }, write("roles.delete")),
  delete: ({ principals }, who) =>
    principals.delete(who, { force: true }, write("principals.delete")),
};
const pairs = Object.keys(WAYS).flatMap((one, i, all) =>
  all.slice(i).map((other) => [one, other] as const),
);

const roleOf = (who: string) => `role-of-${who}`;

async function madeAdmin(store: Store, who: string): Promise<void> {
  const role = { name: roleOf(who), description: null, permissions: ["*"] };
  await store.roles.create(role, write("roles.create"));
  await madePrincipal(store, who, { roles: [role.name] });
  await store.keys.create(newKey(who, "k"), write("principals.createKey"));
}

/** Two servers, and somebody who keeps both from writing until each has begun to. */
async function scene() {
  const url = await postgres.createDatabase();
  const open = () => openPostgresStore({ url, clock: () => NOW });
  const [a, b] = [await opened(open), await opened(open)];
  const [other, watcher] = [await connected(url), await connected(url)];
  return {
    ...{ a, b },
    async hold() {
      await other.query("BEGIN");
      // Reads go on: whoever looks for other admins before it writes finds them.
      await other.query("LOCK TABLE principals, principal_roles, roles, api_keys IN SHARE MODE");
    },
    async letGo() {
      for (let waiting = 0; waiting < 2; ) {
        const { rows } = await watcher.query(`SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        waiting = rows.length;
      }
      await other.query("COMMIT");
    },
  };
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

test("AUTH-20 of two admins whom two servers lock out at once one stays, whatever the two ways are", async () => {
  const { a, b, hold, letGo } = await scene();
  let last: string | undefined;
  for (const [i, [one, other]] of pairs.entries()) {
    const [ann, bob] = [`ann${i}`, `bob${i}`];
    await madeAdmin(a, ann);
    await madeAdmin(b, bob);
    if (last !== undefined) await WAYS["disable"]?.(a, last);
    await hold();
    const raced = Promise.allSettled([WAYS[one]?.(a, ann), WAYS[other]?.(b, bob)]);
    await letGo();
    const outcomes = await raced;
    const what = `${one}, ${other}`;
    expect(await a.identities.hasAdmin(LOGINS), what).toBe(true);
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? outcome.reason.code : [],
    );
    expect(refused, what).toEqual(["last_admin"]);
    last = outcomes[0].status === "rejected" ? ann : bob;
  }
});
