import * as z from "zod";

/** `worker` is made by registration alone; the type of a principal never changes (AUTH-18). */
export const PrincipalType = z.enum(["user", "service_account", "worker"]);
export type PrincipalType = z.infer<typeof PrincipalType>;

/** Issuer of service accounts. Users have that of their provider, a URL. */
export const ENGINE_ISSUER = "engine";
/** Issuer of workers. */
export const WORKER_ISSUER = "engine:workers";

/** How records show a principal, also one that was deleted since. */
export const PrincipalRef = z.object({
  subject: z.string(),
  issuer: z.string(),
  type: PrincipalType,
});
export type PrincipalRef = z.infer<typeof PrincipalRef>;

/**
 * How somebody proved who they are. `internal`: the process itself, which calls itself. `local`: a
 * command on the server's machine.
 */
export const CredentialKind = z.enum([
  "api_key",
  "oidc",
  "execution_token",
  "worker_credential",
  "join_token",
  "bootstrap_token",
  "internal",
  "local",
]);
export type CredentialKind = z.infer<typeof CredentialKind>;

export const Credential = z.object({ kind: CredentialKind, id: z.string().nullable() });
export type Credential = z.infer<typeof Credential>;

/** Who asks, once the credential is proven. */
export interface Identity extends PrincipalRef {
  /** Id of the principal; null of callers who are none: the process itself, a join token. */
  readonly id: string | null;
  readonly roles: readonly string[];
  /** What it holds in all; a narrower key holds less. */
  readonly grants: readonly string[];
  /** Of a key that is narrower than its principal. */
  readonly narrowed_to: readonly string[] | null;
  readonly credential: Credential & {
    /** Milliseconds since 1970; null = it does not end by itself. */
    readonly expires_at: number | null;
  };
  /** The execution whose task calls, with an execution token. */
  readonly via_execution: string | null;
}
