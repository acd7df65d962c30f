import { createClient, type Fetch } from "@engine/client";
import type { ResolvedService } from "@engine/contract";

/** A service as one caller is told of it. */
export interface ReadService {
  readonly service: ResolvedService;
  /** Tells whether a later answer would be the same. */
  readonly etag: string | undefined;
}

export interface ReadServiceOptions {
  readonly name: string;
  /** Where requests are sent by `send`. */
  readonly baseUrl: string;
  /** Of the answer that is known. */
  readonly etag?: string | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Reads a service with what it offers now (SVC-12): undefined where nothing has changed.
 *
 * @throws EngineError as the route refuses it; the signal's reason once that aborts.
 */
export async function readService(
  send: Fetch,
  { name, baseUrl, etag: known, signal }: ReadServiceOptions,
): Promise<ReadService | undefined> {
  let etag: string | undefined;
  const fetch: Fetch = async (url, request) => {
    const response = await send(url, request);
    etag = response.headers.get("etag") ?? undefined;
    return response;
  };
  const client = createClient({ baseUrl, fetch });
  const headers = known === undefined ? {} : { "if-none-match": known };
  try {
    const asked = { params: { name }, headers };
    const answer = await client.services.get(asked, signal ? { signal } : {});
    return answer.status === 200 ? { service: answer.body, etag } : undefined;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
