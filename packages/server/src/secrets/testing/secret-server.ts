import { createHash } from "node:crypto";
import type { ErrorCode } from "@engine/contract";
import { type GuardedServer, guardedServer } from "../../auth/testing/guarded-server.ts";

type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface Answered {
  readonly status: number;
  // Tests say what they expect of it.
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any route
  readonly body: any;
  /** The body as it came. */
  readonly text: string;
}

/** A key of 32 equal bytes, as it is configured. */
export function keyText(fill: number): string {
  return Buffer.alloc(32, fill).toString("base64");
}

/** What such a key is called where it has no other name. */
export function keyId(fill: number): string {
  return createHash("sha256").update(Buffer.alloc(32, fill)).digest("hex").slice(0, 8);
}

export interface SecretServer extends GuardedServer {
  /** Asks as its first admin, unless another key is given. */
  send(method: Method, path: string, body?: unknown, key?: string): Promise<Answered>;
}

type Options = NonNullable<Parameters<typeof guardedServer>[0]> & {
  /** `[engine.security]`, besides `auth`. */
  readonly security?: object;
};

/** A server with authorization on and a key, asked by its first admin. */
export async function secretServer({
  security = {},
  auth = { enabled: true },
  config,
  ...options
}: Options = {}): Promise<SecretServer> {
  const all = { auth, encryption: { key: keyText(1) }, ...security };
  const guarded = await guardedServer({ ...options, config: { ...config, security: all } });
  const send: SecretServer["send"] = async (method, path, body, key = guarded.adminKey) => {
    const response = await fetch(guarded.server.url + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : undefined, text };
  };
  return { ...guarded, send };
}

/** A refusal as a test compares it. */
export function refused(status: number, code: ErrorCode, details?: unknown): object {
  const error = { code, ...(details !== undefined && { details }) };
  return { status, body: { error } };
}
