/** AES-256-GCM as everything here is sealed with: nonce, tag and ciphertext, one after the other. */
import { createCipheriv, createDecipheriv } from "node:crypto";

export const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Random bytes that nobody can guess. */
export type RandomBytes = (length: number) => Uint8Array;

/**
 * @param aad What has to be said again to open it.
 * @param random For the nonce: with one key no two may be alike.
 */
export function encrypted(
  key: Uint8Array,
  aad: string,
  plain: Uint8Array,
  random: RandomBytes,
): Buffer {
  const nonce = random(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(aad));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Undefined where it was sealed with another key, for something else, or was changed since. */
export function decrypted(key: Uint8Array, aad: string, sealed: Uint8Array): Buffer | undefined {
  if (key.length !== KEY_BYTES || sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const cipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(aad));
  cipher.setAuthTag(tag);
  const body = cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([body, cipher.final()]);
  } catch {
    return undefined;
  }
}
