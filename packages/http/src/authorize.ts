import type { Route } from "@engine/contract";

/** Who asks. Null with authorization off, when everybody is anonymous (AUTH-2). */
export interface Caller {
  readonly principal: string | null;
}

/** What is known of a request before its body is read. */
export interface AuthorizationRequest {
  readonly request_id: string;
  /** Percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Says who calls and refuses, by throwing an EngineError, what the path alone forbids. It comes
 * before the body and before any lookup, so that a refusal tells nothing about what exists (AUTH-6).
 */
export type Authorize = (route: Route, request: AuthorizationRequest) => Caller | Promise<Caller>;

const anonymous: Caller = { principal: null };

export const allowEveryone: Authorize = () => anonymous;
