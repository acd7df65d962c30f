import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AuthSwitch, authSwitch } from "@engine/contract";
import { type Logins, makeFolder } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { writeSecretFile } from "./secret-file.ts";
import { newSecretToken, secretHash, tokenId } from "./secret-token.ts";

type Ports = Pick<EnginePorts, "store" | "config" | "ids" | "token" | "log">;

/** Where the first admin's key lies. */
export function adminKeyPath(home: string): string {
  return join(home, "admin-key");
}

/** Who could log in as admin, by the configuration (AUTH-20). */
export function loginsOf({ config }: Pick<Ports, "config">): Logins {
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
  const { store, config, ids, log } = ports;
  const logins = loginsOf(ports);
  if (!logins.api_keys) return;
  const path = adminKeyPath(config.home);
  const pending = `${path}.new`;
  makeFolder(config.home);
  if (await isKeyOf(store, pending)) renameSync(pending, path);
  const { id: key_id, token, secret_hash } = newSecretToken("engine_sk", ports);
  writeSecretFile(pending, token);
  const key = { id: key_id, secret_hash };
  const subject = await store.identities.makeFirstAdmin({ id: ids(), key, logins });
  if (subject === undefined) rmSync(pending, { force: true });
  else {
    renameSync(pending, path);
    log.info({ subject, path }, "an admin was made; its key is in the file");
  }
}

/** Whether a file holds a key that counts. */
async function isKeyOf(store: Ports["store"], path: string): Promise<boolean> {
  const token = readSecret(path);
  if (token === undefined) return false;
  const found = await store.identities.findByKey(tokenId(token));
  return found?.key.secret_hash === secretHash(token);
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
