import type { CredentialKind, Identity, Route } from "@engine/contract";
import type { AuthorizationRequest } from "@engine/http";
import { type TokenShape, tokenShape } from "./token-shape.ts";
import { unauthenticated } from "./unauthenticated.ts";

/** Proves the credentials of one kind. */
export interface TokenVerifier {
  readonly kind: CredentialKind;
  readonly isKept?: false;
  /**
   * Says whose a token is, and whether it counts for this request. Asked for every request, after the
   * kind was found to be one that the route takes, or that it will refuse once it is proven.
   *
   * @throws EngineError `unauthenticated` with a reason (AUTH-9), `permission_denied` with
   * `details.reason` where no grant would help (AUTH-10), `auth_unavailable`.
   */
  identify(token: string, request: AuthorizationRequest, route: Route): Promise<Identity>;
  /**
   * Says whether an answer that goes on for long may do so for whom it began, without the token being
   * used anew; at once while nothing can have changed. Rejects, or throws, as {@link identify}, which is
   * asked again when this is absent.
   */
  again?(identity: Identity): Identity | Promise<Identity>;
}

/** The same where whose a token is hangs on the token alone: the answer is kept for a while (AUTH-56). */
export interface KeptVerifier {
  readonly kind: CredentialKind;
  readonly isKept: true;
  identify(token: string): Promise<Identity>;
  /** The same without any trace of it; {@link identify} leaves none when absent. */
  test?(token: string): Promise<Identity>;
}

export type AnyVerifier = TokenVerifier | KeptVerifier;

/** Who proves which tokens. */
export class TokenVerifiers {
  readonly #byShape = new Map<TokenShape, AnyVerifier>();
  readonly #byText: { readonly matches: (token: string) => boolean; readonly by: AnyVerifier }[] =
    [];

  /** Tokens of a shape; another one for the same takes its place. */
  use(shape: TokenShape, verifier: AnyVerifier): void {
    this.#byShape.set(shape, verifier);
  }

  /** Tokens of no shape, such as a configured one; asked before the shapes. It compares in constant time. */
  useFor(matches: (token: string) => boolean, verifier: AnyVerifier): void {
    this.#byText.push({ matches, by: verifier });
  }

  /** @throws EngineError `unauthenticated` for a token that is none, or of a kind that is turned off. */
  of(token: string): AnyVerifier {
    const configured = this.#byText.find(({ matches }) => matches(token));
    if (configured) return configured.by;
    const shape = tokenShape(token);
    if (shape === undefined) throw unauthenticated("malformed");
    const verifier = this.#byShape.get(shape);
    if (!verifier) throw unauthenticated("invalid");
    return verifier;
  }
}
