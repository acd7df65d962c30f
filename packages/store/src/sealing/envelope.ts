/**
 * Values under a key of their own, which lies beside them wrapped with one of the ring (SEC-2). Both say
 * what they belong to: a row that is moved to another name does not open.
 */
import { EngineError } from "@engine/contract";
import { decrypted, encrypted, KEY_BYTES } from "./gcm.ts";
import type { KeyRing } from "./key-ring.ts";

/** What a sealed value belongs to. */
export interface SealedPlace {
  readonly kind: string;
  readonly name: string;
  readonly version: number | string;
}

/** A data key as it is stored: wrapped with a key of the ring, as base64. */
export interface WrappedKey {
  readonly key_id: string;
  readonly wrapped: string;
}

export interface Sealed extends WrappedKey {
  /** Base64. */
  readonly body: string;
}

export function sealText(ring: KeyRing, place: SealedPlace, text: string): Sealed {
  const { dataKey, ...wrapped } = newDataKey(ring, place);
  const body = encrypted(dataKey, bound("body", place), Buffer.from(text), ring.random);
  return { ...wrapped, body: body.toString("base64") };
}

/** @throws EngineError `encryption_unavailable` without the key, or for a value of another place. */
export function openText(ring: KeyRing, place: SealedPlace, sealed: Sealed): string {
  const dataKey = unwrapKey(ring, place, sealed);
  const text = decrypted(dataKey, bound("body", place), Buffer.from(sealed.body, "base64"));
  if (!text) throw unopened(place);
  return text.toString();
}

/** A key for many texts of one place, with what is stored of it. */
export function newDataKey(
  ring: KeyRing,
  place: SealedPlace,
): WrappedKey & { readonly dataKey: Uint8Array } {
  const dataKey = ring.random(KEY_BYTES);
  return { dataKey, ...wrapKey(ring, place, dataKey) };
}

/** A data key for another place, as that of a fork. */
export function wrapKey(ring: KeyRing, place: SealedPlace, dataKey: Uint8Array): WrappedKey {
  const { id, key } = ring.primary;
  const wrapped = encrypted(key, bound("key", place), dataKey, ring.random);
  return { key_id: id, wrapped: wrapped.toString("base64") };
}

/** @throws EngineError `encryption_unavailable` without the key, or for a key of another place. */
export function unwrapKey(
  ring: KeyRing,
  place: SealedPlace,
  { key_id, wrapped }: WrappedKey,
): Uint8Array {
  const found = ring.of(key_id);
  if (!found) {
    throw new EngineError(
      "encryption_unavailable",
      `what is stored of ${told(place)} is sealed with the key ${key_id}, which is not among the keys of this process (${ring.ids.join(", ")}); add it to engine.security.encryption.keys`,
    );
  }
  const key = decrypted(found.key, bound("key", place), Buffer.from(wrapped, "base64"));
  if (key?.length !== KEY_BYTES) throw unopened(place);
  return key;
}

/** The same data key under the primary key of the ring; what it sealed stays as it is (SEC-3). */
export function rewrapKey(ring: KeyRing, place: SealedPlace, key: WrappedKey): WrappedKey {
  return wrapKey(ring, place, unwrapKey(ring, place, key));
}

/** What a key and a body are bound to: neither opens in the place of the other. */
function bound(part: "key" | "body", { kind, name, version }: SealedPlace): string {
  return JSON.stringify(["engine-envelope:1", part, kind, name, version]);
}

function unopened(place: SealedPlace): EngineError {
  return new EngineError(
    "encryption_unavailable",
    `what is stored of ${told(place)} does not open: it was sealed with another key of that id, for something else, or was changed`,
  );
}

function told({ kind, name }: SealedPlace): string {
  return `${kind} ${name}`;
}
