import type { Identity, Rights, Route } from "@engine/contract";

/** Who asks. */
export interface Caller {
  /** Null with authorization off, when everybody is anonymous (AUTH-2). */
  readonly principal: string | null;
  /** Absent: the caller may do everything. */
  readonly rights?: Rights;
  /** Absent with authorization off, and on routes that are open. */
  readonly identity?: Identity;
  /**
   * Asks anew who the caller is, for an answer that goes on for long (AUTH-58). Answers the caller as
   * it is now, at once while nothing can have changed; rejects once the credential has ended. Absent:
   * nothing is lost while the answer lasts.
   */
  again?(): Caller | Promise<Caller>;
}

/** What is known of a request before its body is read. */
export interface AuthorizationRequest {
  readonly request_id: string;
  /** Percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * Name, value, name, value, as they came: Node joins some headers that are repeated and drops
   * others, so that two credentials would look like one (AUTH-8).
   */
  readonly raw_headers: readonly string[];
  /** Of the client, behind the proxies that are trusted (NET-2); undefined once it is gone. */
  readonly address: string | undefined;
}

/**
 * Says who calls, or throws an EngineError. It comes before the body and before any lookup, so that
 * a refusal tells nothing about what exists (AUTH-6).
 */
export type Authorize = (route: Route, request: AuthorizationRequest) => Caller | Promise<Caller>;

const anonymous: Caller = { principal: null };

export const allowEveryone: Authorize = () => anonymous;
