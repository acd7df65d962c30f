import { readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AuthSwitch, authSwitch } from "@engine/contract";
import { type FirstAdmin, type Logins, makeFolder, writeSecretFile } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { newSecretToken, secretHash, tokenId } from "./secret-token.ts";

type Ports = Pick<EnginePorts, "store" | "config" | "ids" | "token" | "log">;

/** Where the first admin's key lies. */
export function adminKeyPath(home: string): string {
  return join(home, "admin-key");
}

/** Who could log in as admin, by the configuration (AUTH-20). */
function loginsOf({ config }: Pick<Ports, "config">): Logins {
  const { auth } = config.security;
  const { apiKeys, oidc }: AuthSwitch = authSwitch(auth);
  return { api_keys: apiKeys, oidc_issuer: oidc ? (auth.oidc.issuer ?? null) : null };
}

/**
 * Sees to it that somebody can administer the engine (AUTH-4). The key is in a file beside its place
 * before the store knows it, and comes to its place once it does: a crash in between leaves one of the
 * two, which the next start makes whole.
 */
export async function ensureFirstAdmin(ports: Ports): Promise<void> {
  const { store, config } = ports;
  const logins = loginsOf(ports);
  if (!logins.api_keys) return;
  const path = adminKeyPath(config.home);
  makeFolder(config.home);
  const subject = (await store.identities.hasAdmin(logins))
    ? undefined
    : await makeAdmin(ports, { path, logins });
  // Whoever still has a key beside its place was slower: there is an admin by now.
  for (const pending of await unsettledAdminKeys(ports)) rmSync(pending, { force: true });
  if (subject !== undefined) {
    ports.log.info({ subject, path }, "an admin was made; its key is in the file");
  }
}

/** Undefined where another server was faster. */
async function makeAdmin(
  ports: Ports,
  { path, logins }: { readonly path: string; readonly logins: Logins },
): Promise<string | undefined> {
  const { key } = pendingAdminKey(ports, path);
  return ports.store.identities.makeFirstAdmin({ id: ports.ids(), key, logins });
}

/**
 * A fresh key, whose text lies in a file beside its place until the store knows it and
 * {@link unsettledAdminKeys} is asked.
 */
export function pendingAdminKey(
  ports: Pick<EnginePorts, "token">,
  path: string,
): { readonly token: string; readonly key: FirstAdmin["key"]; readonly pending: string } {
  const { id, token, secret_hash } = newSecretToken("engine_sk", ports);
  // Servers that start at the same time may share the folder.
  const pending = `${path}.${id}${PENDING}`;
  writeSecretFile(pending, token);
  return { token, key: { id, secret_hash }, pending };
}

/**
 * Brings the key that the store knows to its place; answers the files whose keys it does not know, or
 * not yet: of a start that died, or of one that is about to make an admin.
 */
export async function unsettledAdminKeys({
  store,
  config,
}: Pick<EnginePorts, "store" | "config">): Promise<readonly string[]> {
  const unsettled: string[] = [];
  for (const pending of pendingIn(config.home)) {
    if (await isKeyOf(store, pending)) moved(pending, adminKeyPath(config.home));
    else unsettled.push(pending);
  }
  return unsettled;
}

const PENDING = ".new";

/** Keys that are not at their place: of this start, of one that died, or of another server's. */
function pendingIn(home: string): readonly string[] {
  return readdirSync(home)
    .filter((name) => name.startsWith("admin-key.") && name.endsWith(PENDING))
    .map((name) => join(home, name));
}

/** Whether a file holds a key that counts. */
export async function isKeyOf(store: Ports["store"], path: string): Promise<boolean> {
  const token = readSecret(path);
  if (token === undefined) return false;
  const found = await store.identities.findByKey(tokenId(token));
  return found?.key.secret_hash === secretHash(token);
}

/** Another server with the same folder may have moved it. */
function moved(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Undefined where there is none. */
export function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
