import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Http } from "../harness/http.ts";

const AGAIN_MS = 25;
/**
 * For whatever a strand waits for: some twenty processes die under it, one after the other, and on a busy
 * machine each takes seconds until it is back.
 */
export const PATIENCE_MS = 300_000;

interface Asked {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Asks until there is an answer, as callers are told to: a server that dies has given none. */
export async function ask<Body = unknown>(
  { url, token }: Http,
  path: string,
  { method = "GET", body, headers = {} }: Asked = {},
): Promise<Answer<Body> & { readonly tries: number }> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const known = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const init = {
    method,
    headers: { ...known, ...headers, ...json },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const deadline = performance.now() + PATIENCE_MS;
  for (let tries = 1; ; tries++) {
    let last: unknown;
    try {
      const response = await fetch(url + path, init);
      const text = await response.text();
      const { status, headers } = response;
      if (status !== 503) return { status, headers, body: text ? JSON.parse(text) : null, tries };
      last = text;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`${method} ${path} was never answered in ${PATIENCE_MS} ms: ${last}`);
    }
    await sleep(AGAIN_MS);
  }
}
