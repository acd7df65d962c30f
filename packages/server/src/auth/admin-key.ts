import { rmSync } from "node:fs";
import { type AuditEntry, EngineError } from "@engine/contract";
import { makeFolder, writeSecretFile } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import {
  adminKeyPath,
  isKeyOf,
  pendingAdminKey,
  readSecret,
  unsettledAdminKeys,
} from "./first-admin.ts";
import { loginsOnceOn } from "./logins-once-on.ts";
import { tokenId } from "./secret-token.ts";

type Ports = Pick<EnginePorts, "store" | "config" | "ids" | "token">;

/**
 * The admin's key whose text lies here.
 *
 * @throws EngineError `not_found` saying what to do where there is none, or one that counts no more.
 */
export async function readAdminKey(ports: Pick<Ports, "store" | "config">): Promise<string> {
  const { store, config } = ports;
  const path = adminKeyPath(config.home);
  makeFolder(config.home);
  // A rotation, or the start of a server, may have died before the key was at its place.
  await unsettledAdminKeys(ports);
  const text = readSecret(path);
  if (text !== undefined && (await isKeyOf(store, path))) return text;
  const hasAdmin = await store.identities.hasAdmin(loginsOnceOn(config));
  throw new EngineError("not_found", whyNone({ path, hasText: text !== undefined, hasAdmin }), {
    details: { resource: "admin key" },
  });
}

function whyNone(none: { path: string; hasText: boolean; hasAdmin: boolean }): string {
  const rotate = "make a new one with: npx engine server admin-key --rotate";
  if (none.hasText) return `the key in ${none.path} counts no more: it was revoked; ${rotate}`;
  return none.hasAdmin
    ? `there is no admin key in ${none.path}: it was taken away, or lies on the host of another server; ${rotate}`
    : `there is no admin key in ${none.path}: no server with authorization has started on this database yet; start one, or ${rotate}`;
}

/** A key as it was made anew. */
export interface NewAdminKey {
  readonly key: string;
  /** The service account that comes in by it. */
  readonly subject: string;
  readonly path: string;
}

/**
 * Makes a new key for the account of the old one, which counts nowhere from then on; makes an admin
 * where nobody could log in as one.
 *
 * @throws EngineError `provider_disabled` with API keys off; `conflict` where the account of the key is
 * no admin any more, and others are.
 */
export async function rotateAdminKey(ports: Ports, entry: AuditEntry): Promise<NewAdminKey> {
  const { store, config } = ports;
  const logins = loginsOnceOn(config);
  if (!logins.api_keys) {
    throw new EngineError(
      "provider_disabled",
      "no key would be accepted: API keys are turned off by [engine.security.auth.api_keys] enabled; admins come in by the provider (engine.security.auth.oidc.initial_admins)",
    );
  }
  const path = adminKeyPath(config.home);
  makeFolder(config.home);
  await unsettledAdminKeys(ports);
  const old = readSecret(path);
  const old_id = old === undefined ? null : tokenId(old);
  const { token, key, pending } = pendingAdminKey(ports, path);
  const rotated = { id: ports.ids(), old_id, key, logins, entry };
  // Where this fails nobody knows what became of it: the file stays for whoever looks next.
  const subject = await store.identities.rotateAdminKey(rotated);
  // Written anew, since a server that starts takes away what it finds beside the place.
  if (subject !== undefined) writeSecretFile(path, token);
  rmSync(pending, { force: true });
  if (subject !== undefined) return { key: token, subject, path };
  throw new EngineError(
    "conflict",
    "the account of this key is no admin any more, and others are: one of them makes a key with: npx engine principals create-key <subject> --key-name <name>",
  );
}
