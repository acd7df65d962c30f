import type { Route } from "@engine/contract";

/**
 * What a row may be seen by: values of a permission's placeholders; one that is left out is any.
 */
export type Seen = Readonly<Record<string, string>>;

/** What a caller holds, as far as one request has to know. */
export interface Rights {
  /**
   * Whether a permission is held, such as `workflow:shop:refund:run`; a `*` in it stands for
   * itself.
   */
  holds(permission: string): boolean;
  /** What is seen by a permission with placeholders, such as `workflow:{ns}:{wf}:read`. */
  seenBy(permission: string): readonly Seen[];
}

/** Who asks. */
export interface Caller {
  /** Null with authorization off, when everybody is anonymous (AUTH-2). */
  readonly principal: string | null;
  /** Absent: the caller may do everything. */
  readonly rights?: Rights;
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
  /** Of the socket's other end; undefined once it is gone. */
  readonly address: string | undefined;
}

/**
 * Says who calls, or throws an EngineError. It comes before the body and before any lookup, so that
 * a refusal tells nothing about what exists (AUTH-6).
 */
export type Authorize = (route: Route, request: AuthorizationRequest) => Caller | Promise<Caller>;

const anonymous: Caller = { principal: null };

export const allowEveryone: Authorize = () => anonymous;
