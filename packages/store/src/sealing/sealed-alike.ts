/**
 * Texts that look the same when they are the same: what is compared by equality and read by nobody. The
 * nonce is made of the text (as in SIV, RFC 5297), so that one nonce never covers two texts. A text is
 * bound to no place: it opens wherever it lies. Whoever reads the database sees which texts are equal.
 */
import { createHmac, hkdfSync } from "node:crypto";
import { EngineError } from "@engine/contract";
import { decrypted, encrypted, KEY_BYTES, NONCE_BYTES } from "./gcm.ts";
import type { KeyRing, RingKey } from "./key-ring.ts";

/** Said in everything that is derived here, so that no other use of the key comes to the same. */
const DOMAIN = "engine-alike:1";

interface DerivedKeys {
  readonly sealing: Uint8Array;
  readonly nonces: Uint8Array;
}

/** Deriving them takes longer than sealing. */
const derived = new WeakMap<Uint8Array, DerivedKeys>();

/** The id of the primary key, a colon and base64. */
export function sealAlike(ring: KeyRing, text: string): string {
  const { id, key } = ring.primary;
  const keys = keysOf(key);
  const nonce = nonceOf(keys, id, text);
  const sealed = encrypted(keys.sealing, aadOf(id), Buffer.from(text), (length) =>
    nonce.subarray(0, length),
  );
  return `${id}:${sealed.toString("base64")}`;
}

/** @throws EngineError `encryption_unavailable` without the key, or for a text that was changed. */
export function openAlike(ring: KeyRing, sealed: string): string {
  const id = keyIdOf(sealed);
  const found = id === undefined ? undefined : ring.of(id);
  if (id !== undefined && !found) {
    throw new EngineError(
      "encryption_unavailable",
      `a routing input is sealed with the key ${id}, which is not among the keys of this process (${ring.ids.join(", ")}); add it to engine.security.encryption.keys`,
    );
  }
  const text = found && opened(found, sealed.slice(found.id.length + 1));
  if (text !== undefined) return text;
  throw new EngineError(
    "encryption_unavailable",
    "a routing input does not open: it was sealed with another key of that id, or was changed",
  );
}

/** The same under the primary key. @throws EngineError as {@link openAlike}. */
export function resealAlike(ring: KeyRing, sealed: string): string {
  return sealAlike(ring, openAlike(ring, sealed));
}

/** Of the key that a text is sealed with; undefined for a text that is not sealed. */
export function keyIdOf(sealed: string): string | undefined {
  return /^([A-Za-z0-9_-]{1,64}):/.exec(sealed)?.[1];
}

function opened({ id, key }: RingKey, base64: string): string | undefined {
  const bytes = Buffer.from(base64, "base64");
  // Only one spelling opens, or equal texts might look different.
  if (bytes.toString("base64") !== base64) return undefined;
  const keys = keysOf(key);
  const text = decrypted(keys.sealing, aadOf(id), bytes)?.toString();
  if (text === undefined) return undefined;
  const nonce = nonceOf(keys, id, text);
  return nonce.subarray(0, NONCE_BYTES).equals(bytes.subarray(0, NONCE_BYTES)) ? text : undefined;
}

function keysOf(key: Uint8Array): DerivedKeys {
  const known = derived.get(key);
  if (known) return known;
  const made = { sealing: derivedFrom(key, "sealing"), nonces: derivedFrom(key, "nonces") };
  derived.set(key, made);
  return made;
}

function derivedFrom(key: Uint8Array, use: keyof DerivedKeys): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", `${DOMAIN} ${use}`, KEY_BYTES));
}

function nonceOf({ nonces }: DerivedKeys, id: string, text: string): Buffer {
  return createHmac("sha256", nonces)
    .update(`${aadOf(id)}\n`)
    .update(text)
    .digest();
}

function aadOf(id: string): string {
  return `${DOMAIN} ${id}`;
}
