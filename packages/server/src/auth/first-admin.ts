import { readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AuthSwitch, authSwitch } from "@engine/contract";
import { type Logins, makeFolder, writeSecretFile } from "@engine/store";
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
  for (const pending of pendingIn(config.home)) {
    if (await isKeyOf(store, pending)) moved(pending, path);
    else rmSync(pending, { force: true });
  }
  if (subject !== undefined) {
    ports.log.info({ subject, path }, "an admin was made; its key is in the file");
  }
}

/** Undefined where another server was faster. */
async function makeAdmin(
  ports: Ports,
  { path, logins }: { readonly path: string; readonly logins: Logins },
): Promise<string | undefined> {
  const { id, token, secret_hash } = newSecretToken("engine_sk", ports);
  // Servers that start at the same time may share the folder.
  writeSecretFile(`${path}.${id}${PENDING}`, token);
  const key = { id, secret_hash };
  return ports.store.identities.makeFirstAdmin({ id: ports.ids(), key, logins });
}

const PENDING = ".new";

/** Keys that are not at their place: of this start, of one that died, or of another server's. */
function pendingIn(home: string): readonly string[] {
  return readdirSync(home)
    .filter((name) => name.startsWith("admin-key.") && name.endsWith(PENDING))
    .map((name) => join(home, name));
}

/** Whether a file holds a key that counts. */
async function isKeyOf(store: Ports["store"], path: string): Promise<boolean> {
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

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
