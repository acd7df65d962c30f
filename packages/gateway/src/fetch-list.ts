import { readService } from "@engine/mcp";
import type { FetchList } from "./endpoint-list.ts";
import type { Upstream } from "./upstream.ts";
import { ANY_SERVER, upstreamFetch } from "./upstream-fetch.ts";

export interface FetchListOptions {
  readonly service: string;
  readonly upstream: Upstream;
  /** The gateway's own; it goes before that of the request that caused a fetch (GW-16). */
  readonly token?: (() => Promise<string | undefined>) | undefined;
}

/** Asks whichever server is used for the list, as the typed client does. */
export function fetchList({ service: name, upstream, token }: FetchListOptions): FetchList {
  return async ({ etag, authorization, signal }) => {
    const given = await token?.();
    const own = given === undefined ? undefined : `Bearer ${given}`;
    // Whoever asks sets the time for all of it.
    const send = upstreamFetch(upstream, { headMs: 0, authorization: own ?? authorization });
    return readService(send, { name, baseUrl: ANY_SERVER, etag, signal });
  };
}
