import { createHash } from "node:crypto";
import type { ResolvedService } from "@engine/contract";
import { THIS_SERVER } from "@engine/http";
import { type ReadService, readService } from "@engine/mcp";

interface Known extends ReadService {
  /** What was masked when it was read. */
  readonly masks: unknown;
}

/** Whoever asks, with what its requests are sent by. */
export interface Asker {
  readonly authorization: string | undefined;
  readonly send: Parameters<typeof readService>[0];
}

/** Callers that are kept; the oldest go first. */
const MOST = 1_000;

/**
 * Services as single callers were last told of them, so that what has not changed is not printed, sent
 * and read again for each call of a tool. Each is asked for all the same, as that caller.
 */
export class KnownServices {
  readonly #known = new Map<string, Known>();
  readonly #masks: () => unknown;

  /** @param masks What is masked now; where it is another, what was told may not be told again. */
  constructor(masks: () => unknown) {
    this.#masks = masks;
  }

  /** @throws EngineError as the route refuses it. */
  async get(name: string, { authorization, send }: Asker): Promise<ResolvedService> {
    const key = keyOf(name, authorization);
    const masks = this.#masks();
    const before = this.#known.get(key);
    const known = masks !== undefined && before?.masks === masks ? before : undefined;
    const read = await readService(send, { name, baseUrl: THIS_SERVER, etag: known?.etag });
    const now = read ?? known;
    // Nothing has changed since nothing: no answer of this server's.
    if (!now) throw new Error("a service was not answered");
    if (read) this.#keep(key, { ...read, masks });
    return now.service;
  }

  #keep(key: string, known: Known): void {
    this.#known.delete(key);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= MOST) this.#known.delete(oldest);
    this.#known.set(key, known);
  }
}

/** Tokens are not kept as they are. */
function keyOf(name: string, authorization: string | undefined): string {
  const of = authorization === undefined ? "" : createHash("sha256").update(authorization);
  return `${name} ${of === "" ? "" : of.digest("base64url")}`;
}
