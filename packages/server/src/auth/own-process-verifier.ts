import { ENGINE_ISSUER, type Identity, type Route } from "@engine/contract";
import type { AuthorizationRequest } from "@engine/http";
import { isText } from "./joining-verifiers.ts";
import type { TokenVerifier } from "./token-verifier.ts";
import { unauthenticated, wrongCredentialKind } from "./unauthenticated.ts";

/** What the process asks of itself beside reading: it registers the files that are saved. */
const REGISTER = "/workflows";

/**
 * Proves the token with which a process calls the server in it: it may read and register everything,
 * and starts no execution (AUTH-63).
 */
export class OwnProcessVerifier implements TokenVerifier {
  readonly kind = "internal";
  readonly #isToken: (token: string) => boolean;

  constructor(token: string) {
    this.#isToken = isText(token);
  }

  async identify(token: string, _: AuthorizationRequest, route: Route): Promise<Identity> {
    if (!this.#isToken(token)) throw unauthenticated("invalid");
    if (route.effect !== "read" && route.path !== REGISTER) throw wrongCredentialKind();
    return OWN_PROCESS;
  }
}

const OWN_PROCESS: Identity = {
  id: null,
  subject: "engine",
  issuer: ENGINE_ISSUER,
  type: "service_account",
  roles: [],
  grants: ["*"],
  narrowed_to: null,
  credential: { kind: "internal", id: null, expires_at: null },
  via_execution: null,
};
