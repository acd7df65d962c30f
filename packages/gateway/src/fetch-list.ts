import { createClient, type Fetch } from "@engine/client";
import type { FetchList } from "./endpoint-list.ts";
import type { Upstream } from "./upstream.ts";
import { ANY_SERVER, upstreamFetch } from "./upstream-fetch.ts";

export interface FetchListOptions {
  readonly service: string;
  readonly upstream: Upstream;
  /** The gateway's own; it goes before that of the request that caused a fetch (GW-16). */
  readonly token: (() => Promise<string | undefined>) | undefined;
}

/** Asks whichever server is used for the list, as the typed client does. */
export function fetchList({ service, upstream, token }: FetchListOptions): FetchList {
  return async ({ etag: known, authorization, signal }) => {
    const given = await token?.();
    const own = given === undefined ? undefined : `Bearer ${given}`;
    // Whoever asks sets the time for all of it.
    const send = upstreamFetch(upstream, { headMs: 0, authorization: own ?? authorization });
    let etag: string | undefined;
    const fetch: Fetch = async (url, request) => {
      const response = await send(url, request);
      etag = response.headers.get("etag") ?? undefined;
      return response;
    };
    const client = createClient({ baseUrl: ANY_SERVER, fetch });
    const headers = known === undefined ? {} : { "if-none-match": known };
    try {
      const answer = await client.services.get({ params: { name: service }, headers }, { signal });
      return answer.status === 200 ? { service: answer.body, etag } : undefined;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  };
}
