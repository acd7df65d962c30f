/** Texts under a data key that was unwrapped before: many of them, each for itself. */
import { randomBytes } from "node:crypto";
import { EngineError } from "@engine/contract";
import { decrypted, encrypted, type RandomBytes } from "./gcm.ts";

const PREFIX = "engine-sealed:1:";

/** @param aad What has to be said again to open it. */
export function sealUnder(
  dataKey: Uint8Array,
  aad: string,
  text: string,
  random: RandomBytes = randomBytes,
): string {
  return PREFIX + encrypted(dataKey, aad, Buffer.from(text), random).toString("base64url");
}

/** @throws EngineError `encryption_unavailable` for a text of another key or place, or none that is sealed. */
export function openUnder(dataKey: Uint8Array, aad: string, sealed: string): string {
  const body = Buffer.from(sealed.slice(PREFIX.length), "base64url");
  const text = isSealedText(sealed) ? decrypted(dataKey, aad, body) : undefined;
  if (text) return text.toString();
  throw new EngineError(
    "encryption_unavailable",
    "a stored value does not open: it was sealed with another key, for something else, or was changed",
  );
}

export function isSealedText(text: string): boolean {
  return text.startsWith(PREFIX);
}
