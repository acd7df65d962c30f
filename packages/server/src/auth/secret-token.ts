import { createHash, hash } from "node:crypto";
import type { EnginePorts } from "../engine-ports.ts";

/** What a credential's text begins with (AUTH-11). */
export type TokenPrefix = "engine_sk" | "engine_wk" | "engine_jt" | "engine_bt";

/** A fresh credential: the text is shown once and kept nowhere, its id and hash are stored. */
export interface SecretToken {
  /** 12 characters of `[a-z0-9]`. */
  readonly id: string;
  /** `<prefix>_<id>_<secret>` */
  readonly token: string;
  readonly secret_hash: string;
}

/** A random credential (AUTH-12). */
export function newSecretToken(
  prefix: TokenPrefix,
  ports: Pick<EnginePorts, "token">,
): SecretToken {
  const id = randomId(ports.token());
  const token = `${prefix}_${id}_${ports.token()}`;
  return { id, token, secret_hash: secretHash(token) };
}

/** SHA-256 of a whole token, as hex: all that is kept of it. */
export function secretHash(token: string): string {
  return hash("sha256", token, "hex");
}

/** The id within a token of such a shape. */
export function tokenId(token: string): string {
  return token.slice("engine_xx_".length, "engine_xx_".length + ID_LENGTH);
}

const ID_LENGTH = 12;
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

function randomId(random: string): string {
  const bytes = createHash("sha256").update(random).digest().subarray(0, ID_LENGTH);
  return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("");
}
