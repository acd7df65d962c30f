/** Everything a sweep has to hit, as the packages declare it. */
import { SERVER_FAILPOINTS } from "@engine/server";
import { storeFailpoints } from "@engine/store";
import { WORKER_FAILPOINTS } from "@engine/worker";

export type StoreKind = "sqlite" | "postgres";

/** Around the function of a task; the fixture of the sweep comes by these. */
const BODY_FAILPOINTS = ["body begins", "body has run"];

/** A checkpoint of one execution, as people may send it by hand: workers send batches. */
const BY_HAND = "engine:http:answering POST /checkpoint/{id}";

const around = (methods: readonly string[]) =>
  methods.flatMap((method) => [`engine:store:writing ${method}`, `engine:store:written ${method}`]);

/** What a server with authorization on comes by when it starts for the first time. */
export const FIRST_ADMIN: readonly string[] = around([
  "identities.makeFirstAdmin",
  "joinTokens.keepBootstrap",
]);

/** What is reached with authorization on alone. */
const GUARDED: ReadonlySet<string> = new Set([
  ...FIRST_ADMIN,
  ...around(["sessions.admit", "identities.noteUse", "workerCredentials.use"]),
  "engine:http:answering PUT /executions/{id}/principal",
]);

/** What is reached with authorization off alone: with it workers are admitted. */
const OPEN: ReadonlySet<string> = new Set(around(["sessions.open"]));

/**
 * What a workload of the sweep is too short for, or takes a command or an identity provider: tests of
 * the store and of the server force these transactions apart.
 */
const OF_CREDENTIALS: ReadonlySet<string> = new Set([
  ...around([
    "identities.login",
    "identities.rotateAdminKey",
    "workerCredentials.renew",
    "workerCredentials.revoke",
    "joinTokens.rotateBootstrap",
  ]),
  "engine:http:answering POST /workers/{name}/credential",
  "engine:http:answering POST /workers/{name}/executions/{id}/token",
]);

/**
 * What only servers come by that were started with another primary key than before: tests of the server
 * break it off and start anew.
 */
const OF_OTHER_KEYS: ReadonlySet<string> = new Set([
  "engine:store:writing encryption.rewrap",
  "engine:store:written encryption.rewrap",
]);

/**
 * A delivery whose event commits at the very moment when its hook is deleted; and a row that is settled
 * apart from the creation of its execution, as no server does it. Tests of the store do both.
 */
const OF_RACES: ReadonlySet<string> = new Set(around(["deliveries.forget", "deliveries.settle"]));

/** @param isGuarded Whether authorization is on. */
export function failpointsOf(store: StoreKind, isGuarded = false): readonly string[] {
  const all = [
    ...storeFailpoints(store),
    ...SERVER_FAILPOINTS,
    ...WORKER_FAILPOINTS,
    ...BODY_FAILPOINTS,
  ];
  const others = [OF_CREDENTIALS, OF_OTHER_KEYS, OF_RACES, isGuarded ? OPEN : GUARDED];
  return all.filter((name) => name !== BY_HAND && !others.some((some) => some.has(name)));
}

export function channelsOf(failpoints: readonly string[]): readonly string[] {
  const names = failpoints.map((name) => name.split(" ", 1)[0] ?? "");
  return [...new Set(names.filter((name) => name.startsWith("engine:")))];
}

/** Which process it ends. */
export function targetOf(failpoint: string): "worker" | "server" {
  return /^(engine:worker|body)/.test(failpoint) ? "worker" : "server";
}
