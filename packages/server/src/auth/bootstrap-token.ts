import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AuditEntry, EngineError } from "@engine/contract";
import { makeFolder, makeSecretFile, writeSecretFile } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { isSame } from "./api-key-verifier.ts";
import { newSecretToken, secretHash } from "./secret-token.ts";

type Ports = Pick<EnginePorts, "store" | "config" | "token">;

/** Where the text of a generated bootstrap token lies. */
function bootstrapTokenPath(home: string): string {
  return join(home, "bootstrap-token");
}

/**
 * Sees to it that workers can join (AUTH-53): one token for the whole store, unless the configuration
 * has one. Its text lies with the server that made it, its hash in the store. The file comes first: a
 * crash in between leaves a text that the next start takes up.
 */
export async function ensureBootstrapToken(ports: Ports): Promise<void> {
  const { store, config } = ports;
  const { bootstrap_token, bootstrap_token_enabled } = config.workers;
  if (!bootstrap_token_enabled || bootstrap_token) return;
  if ((await store.joinTokens.bootstrap()) !== undefined) return;
  makeFolder(config.home);
  const path = bootstrapTokenPath(config.home);
  const made = readToken(path) === undefined && makeSecretFile(path, freshToken(ports));
  const hash = secretHash(readToken(path) ?? "");
  const kept = await store.joinTokens.keepBootstrap(hash);
  // Another server was faster: its text lies there.
  if (made && !isSame(kept, hash)) rmSync(path, { force: true });
}

/**
 * The token with which workers join: that of the configuration, else the one of the store whose text
 * lies here.
 *
 * @throws EngineError `not_found` saying what to do where there is none.
 */
export async function readBootstrapToken({ store, config }: Omit<Ports, "token">): Promise<string> {
  const { bootstrap_token, bootstrap_token_enabled } = config.workers;
  if (!bootstrap_token_enabled) throw turnedOff();
  if (bootstrap_token) return bootstrap_token;
  const path = bootstrapTokenPath(config.home);
  const text = readToken(path);
  const kept = await store.joinTokens.bootstrap();
  if (text !== undefined && kept !== undefined && isSame(kept, secretHash(text))) return text;
  const where =
    kept === undefined ? "no server with authorization has made one yet" : elsewhere(path);
  throw new EngineError(
    "not_found",
    `there is no bootstrap token here: ${where}; make a new one with: npx engine server bootstrap-token --rotate`,
    { details: { resource: "bootstrap token" } },
  );
}

/**
 * Makes a new token; from now on the old one counts nowhere.
 *
 * @throws EngineError `conflict` while the configuration has one.
 */
export async function rotateBootstrapToken(ports: Ports, entry: AuditEntry): Promise<string> {
  const { store, config } = ports;
  const { bootstrap_token, bootstrap_token_enabled } = config.workers;
  if (!bootstrap_token_enabled) throw turnedOff();
  if (bootstrap_token) {
    throw new EngineError(
      "conflict",
      "the bootstrap token is that of the configuration (engine.workers.bootstrap_token): change it there, and restart the servers",
    );
  }
  makeFolder(config.home);
  const token = freshToken(ports);
  // The text is safe beside its place before the old one counts no more.
  const path = bootstrapTokenPath(config.home);
  const pending = `${path}.new`;
  writeSecretFile(pending, token);
  try {
    await store.joinTokens.rotateBootstrap(secretHash(token), entry);
  } catch (error) {
    rmSync(pending, { force: true });
    throw error;
  }
  renameSync(pending, path);
  return token;
}

function freshToken(ports: Pick<Ports, "token">): string {
  return newSecretToken("engine_bt", ports).token;
}

function readToken(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function elsewhere(path: string): string {
  return `the store has one, but its text is not in ${path}: another host has made it`;
}

function turnedOff(): EngineError {
  return new EngineError(
    "conflict",
    "bootstrap tokens are turned off (engine.workers.bootstrap_token_enabled): use join tokens",
  );
}
