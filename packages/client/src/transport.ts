import { EngineError } from "@engine/contract";

/** What the client needs of a response; the platform's `Response` is one. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
  text(): Promise<string>;
}

/** What the client sends; the second argument of {@link Fetch}. */
export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** What the client needs of `fetch`; the platform's is one. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;

/** What went wrong on the way, as something that may pass: the caller can try again. */
export function unreachable(url: string, cause: unknown): EngineError {
  return new EngineError(
    "unavailable",
    `no answer from ${new URL(url).origin} (${reasonOf(cause)}); check that an engine runs there and that this is its URL`,
    { cause },
  );
}

/** `fetch` fails with "fetch failed" and hides what happened in its cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.cause instanceof AggregateError) return reasonOf(thrown.cause.errors[0]);
  if (thrown.cause !== undefined) return reasonOf(thrown.cause);
  const { code } = thrown as { readonly code?: unknown };
  if (typeof code === "string" && UNKNOWN_AUTHORITY.has(code)) {
    return "TLS: its certificate is of an authority that is not known here, set ENGINE_CA_FILE to a file with that";
  }
  // An error of TLS carries the call stack of its library; the reason alone is for people.
  const { reason } = thrown as { readonly reason?: unknown };
  return typeof reason === "string" ? `TLS: ${reason}` : thrown.message;
}

/** Codes of certificates that are good as such (OpenSSL). */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);
