import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Config, EngineError } from "@engine/contract";
import { makeFolder } from "../make-folder.ts";
import { KEY_BYTES, type RandomBytes } from "./gcm.ts";
import { makeSecretFile, secretFileProblem } from "./secret-file.ts";

export interface RingKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** The keys that data keys are wrapped with (SEC-1): one that seals, and others that only open. */
export interface KeyRing {
  readonly primary: RingKey;
  /** Undefined for an id that is not in the ring. */
  of(id: string): RingKey | undefined;
  readonly ids: readonly string[];
  /** For data keys and nonces. */
  readonly random: RandomBytes;
}

export interface RingSources {
  /** `[engine.security.encryption]` */
  readonly encryption: Config["security"]["encryption"];
  readonly home: string;
  /** A database on this machine has a key beside it, one that servers share has none of its own. */
  readonly kind: "sqlite" | "postgres";
  /** Told in one line what was put right. */
  readonly warn: (message: string) => void;
}

/** What came of reading the keys; whatever is wrong is told at once, a line each (AUTH-3). */
export interface ReadRing {
  /** Undefined where none is configured, and where something is wrong. */
  readonly ring: KeyRing | undefined;
  readonly problems: readonly string[];
}

const TABLE = "engine.security.encryption";

/**
 * Reads the keys that are configured. Without any, one lies beside a database of this machine; where
 * there is none yet it is made once something has to be sealed.
 */
export function readKeyRing(sources: RingSources): ReadRing {
  const { encryption, home, kind } = sources;
  const given = (["key", "key_file", "keys"] as const).filter(
    (name) => encryption[name] !== undefined,
  );
  if (given.length === 0 && encryption.primary === undefined && kind === "sqlite") {
    return ownRing(join(home, "encryption-key"), sources);
  }
  const problems: string[] = [];
  if (given.length > 1) {
    const names = given.map((name) => `${TABLE}.${name}`).join(" and ");
    problems.push(`${names}: only one of them can be set`);
  }
  if (encryption.primary !== undefined && encryption.keys === undefined) {
    problems.push(`${TABLE}.primary: names a key of ${TABLE}.keys, which is not set`);
  }
  const found: Found[] = [];
  if (encryption.key !== undefined) found.push(parsed(encryption.key, `${TABLE}.key`));
  if (encryption.key_file !== undefined) {
    found.push(inFile(encryption.key_file, `${TABLE}.key_file`, sources));
  }
  if (encryption.keys) found.push(...named(encryption.keys));
  problems.push(...found.flatMap(({ problem }) => problem ?? []));
  const keys = found.flatMap(({ key }) => key ?? []);
  const primary = encryption.keys ? encryption.primary : keys[0]?.id;
  if (encryption.keys) problems.push(...primaryProblems(encryption.keys, primary));
  const first = keys.find(({ id }) => id === primary);
  return { ring: first && problems.length === 0 ? ringOf(first, keys) : undefined, problems };
}

/** A ring of some keys. */
export function ringOf(
  primary: RingKey,
  others: readonly RingKey[] = [],
  random: RandomBytes = randomBytes,
): KeyRing {
  const byId = new Map([primary, ...others].map((key) => [key.id, key]));
  return { primary, of: (id) => byId.get(id), ids: [...byId.keys()], random };
}

type Found =
  | { readonly key: RingKey; readonly problem?: never }
  | { readonly key?: never; readonly problem: string };

/** A ring of the key in a file, which is made when something is to be sealed with it. */
function ownRing(path: string, sources: RingSources): ReadRing {
  const found = existsSync(path) ? inFile(path, path, sources) : undefined;
  if (found?.problem !== undefined) return { ring: undefined, problems: [found.problem] };
  let own = found?.key;
  const known = () => {
    if (!own && existsSync(path)) own = keyIn(path, sources);
    return own;
  };
  const ring: KeyRing = {
    get primary() {
      own ??= made(path, sources);
      return own;
    },
    of: (id) => (known()?.id === id ? own : undefined),
    get ids() {
      return [known()?.id ?? []].flat();
    },
    random: randomBytes,
  };
  return { ring, problems: [] };
}

/** Several processes may make it at once: one succeeds. */
function made(path: string, sources: RingSources): RingKey {
  try {
    makeFolder(dirname(path));
    makeSecretFile(path, randomBytes(KEY_BYTES).toString("base64"));
  } catch (cause) {
    const { message } = cause as Error;
    throw new EngineError("encryption_unavailable", `${path} cannot be made: ${message}`, {
      cause,
    });
  }
  return keyIn(path, sources);
}

function keyIn(path: string, sources: RingSources): RingKey {
  const { key, problem } = inFile(path, path, sources);
  if (!key) throw new EngineError("encryption_unavailable", problem);
  return key;
}

/** @param id By default what the key itself says. */
function parsed(text: string, where: string, id?: string): Found {
  const trimmed = text.trim();
  const isBase64 = /^[A-Za-z\d+/_-]+={0,2}$/.test(trimmed);
  const key = Buffer.from(isBase64 ? trimmed : "", "base64");
  if (key.length === KEY_BYTES) return { key: { id: id ?? idOf(key), key } };
  const got = isBase64 ? `${key.length} bytes` : "a text that is none";
  return {
    problem: `${where}: expected base64 of ${KEY_BYTES} bytes, as of "openssl rand -base64 32"; got ${got}`,
  };
}

function idOf(key: Uint8Array): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 8);
}

function named(keys: Readonly<Record<string, string>>): readonly Found[] {
  return Object.entries(keys).map(([id, text]) => parsed(text, `${TABLE}.keys.${id}`, id));
}

function primaryProblems(
  keys: Readonly<Record<string, string>>,
  primary: string | undefined,
): readonly string[] {
  const ids = Object.keys(keys);
  if (primary === undefined) return [`${TABLE}.primary: needed where ${TABLE}.keys is set`];
  if (ids.includes(primary)) return [];
  const known = ids.length > 0 ? `only ${ids.join(", ")}` : "no key at all";
  return [`${TABLE}.primary: ${TABLE}.keys has no key ${primary}, ${known}`];
}

function inFile(path: string, where: string, { warn }: Pick<RingSources, "warn">): Found {
  const problem = secretFileProblem(path, warn);
  if (problem !== undefined) return { problem: `${where}: ${problem}` };
  try {
    return parsed(readFileSync(path, "utf8"), where === path ? path : `${where} (${path})`);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    return { problem: `${where}: ${path} cannot be read (${reason})` };
  }
}
