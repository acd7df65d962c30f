import { isIP } from "node:net";
import { EngineError } from "@engine/contract";

/** The names and pages through which a server may be reached, as configured. */
export interface Neighbours {
  /** Host names by which this server is known besides loopback names and addresses; `*` is any. */
  readonly hosts: readonly string[];
  /** Origins of pages that may call this server from a browser; `*` is any. */
  readonly origins: readonly string[];
  /** Where an operator adds to the two lists, as refusals tell. */
  readonly keys?: { readonly hosts: string; readonly origins: string };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Headers that browsers add themselves: a page can neither leave them out nor make them up. */
const SENT_BY_BROWSERS = ["origin", "referer"] as const;

/**
 * Keeps pages of other sites out, whether or not callers have to say who they are (NET-4, NET-5). A
 * server that only this machine reaches is reached by every browser on it, and a browser runs code of
 * strangers. So a request has to name this server the way its operator does, or the name of a
 * stranger's site could be pointed at it (DNS rebinding); and where a browser says which page asks,
 * that page has to be one of this server's or of a listed origin.
 */
export class Neighbourhood {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #keys: Required<Neighbours>["keys"];
  /** Remembered, since most requests have the same Host. */
  #lastAdmitted: string | undefined;

  constructor({ hosts, origins, keys = CONFIGURED }: Neighbours) {
    this.#keys = keys;
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
    this.#origins = new Set(origins);
  }

  /**
   * @returns The origin of the request where that is configured: its page may read the answer.
   * @throws EngineError `host_not_allowed`, `origin_denied`.
   */
  admit(headers: Headers): string | undefined {
    this.#admitHost(text(headers["host"]));
    const origin = text(headers["origin"]);
    if (origin !== undefined && this.#isListed(origin)) return origin;
    if (origin !== undefined && !isOwn(origin, headers)) {
      const page = origin === "null" ? "a page of no site" : `a page of ${shown(origin)}`;
      throw denied(page, origin, this.#keys.origins);
    }
    const site = text(headers["sec-fetch-site"]);
    if (site === "cross-site" || site === "same-site") {
      throw denied("a page of another site", null, this.#keys.origins);
    }
    return undefined;
  }

  #isListed(origin: string): boolean {
    return this.#origins.has(origin) || this.#origins.has("*");
  }

  #admitHost(given: string | undefined): void {
    if (given !== undefined && given === this.#lastAdmitted) return;
    const name = hostname(given);
    const isKnown = name !== undefined && (isFixed(name) || this.#hosts.has(name));
    if (!isKnown && !this.#hosts.has("*")) throw notAllowed(name, given, this.#keys.hosts);
    this.#lastAdmitted = given;
  }
}

const CONFIGURED = {
  hosts: "[engine.server] allowed_hosts",
  origins: "[engine.server] cors_allow_origins",
};

/** Whether a browser sent the request; programs set none of these headers (NET-1). */
export function isOfBrowser(headers: Headers): boolean {
  return (
    SENT_BY_BROWSERS.some((name) => headers[name] !== undefined) ||
    Object.keys(headers).some((name) => name.startsWith("sec-fetch-"))
  );
}

/** Whether the origin is this server's own. */
function isOwn(origin: string, headers: Headers): boolean {
  const parsed = URL.parse(origin);
  if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:"))
    return false;
  return parsed.host === text(headers["host"])?.toLowerCase();
}

/** The host of a Host header in lower case, without port and without the brackets of an address. */
function hostname(host: string | undefined): string | undefined {
  const match = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(host ?? "");
  return (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, "");
}

/** Whether a name cannot be pointed elsewhere: an address, or a name of loopback (RFC 6761). */
function isFixed(name: string): boolean {
  return isIP(name) !== 0 || name === "localhost" || name.endsWith(".localhost");
}

function notAllowed(name: string | undefined, given: string | undefined, key: string): EngineError {
  const message =
    name === undefined
      ? "the Host header names no host; send the name or the address under which the server is reached"
      : `this server does not go by the name ${shown(name)}: reach it as localhost or by its address, or add the name to ${key}`;
  return new EngineError("host_not_allowed", message, { details: { host: given ?? null } });
}

function denied(page: string, origin: string | null, key: string): EngineError {
  const message = `${page} may not use this server: list its origin in ${key}, or, for a link, paste it into the address bar`;
  return new EngineError("origin_denied", message, { details: { origin } });
}

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

/** A header's value as a message may repeat it, cut to a length that fits. */
function shown(given: string): string {
  return JSON.stringify(given.length > 80 ? `${given.slice(0, 80)}…` : given);
}
