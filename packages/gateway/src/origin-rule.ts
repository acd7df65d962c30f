import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";

/** What a page may read of an answer besides its body. */
const EXPOSED = "X-Engine-Execution-Id, Location, Mcp-Session-Id, WWW-Authenticate";
const PREFLIGHT_SECONDS = "600";

/** Which pages may call the gateway from a browser (GW-15). */
export class OriginRule {
  readonly #allowed: ReadonlySet<string>;

  /** @param allowed Origins, or addresses of pages, besides those of this machine. */
  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map((url) => URL.parse(url)?.origin ?? url));
  }

  allows(origin: string): boolean {
    return this.#allowed.has(origin) || isOfThisMachine(origin);
  }
}

/** Loopback names and addresses alone: only programs of this machine serve pages there. */
function isOfThisMachine(origin: string): boolean {
  const url = URL.parse(origin);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const { hostname } = url;
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

/** Lets a page read the answer; never with cookies. */
export function crossOrigin(origin: string): Readonly<Record<string, string>> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
    ...(origin !== "*" && { vary: "Origin" }),
  };
}

/** Whether a browser asks if a page may send what it is about to (Fetch standard, 4.8). */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/** What answers it, for a page that may. */
export function preflightHeaders(
  { headers }: IncomingMessage,
  methods: readonly string[],
): OutgoingHttpHeaders {
  const asked = headers["access-control-request-headers"];
  return {
    "access-control-allow-methods": methods.join(", "),
    "access-control-max-age": PREFLIGHT_SECONDS,
    ...(asked !== undefined && { "access-control-allow-headers": asked }),
  };
}
