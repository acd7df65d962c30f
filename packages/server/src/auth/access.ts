import { authSwitch } from "@engine/contract";
import { createTokenVerifier, type TokenFetch } from "@engine/oidc";
import type { Engine } from "../engine.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { ApiKeyVerifier } from "./api-key-verifier.ts";
import { Authentication } from "./authentication.ts";
import { OidcVerifier } from "./oidc-verifier.ts";
import { TokenVerifiers } from "./token-verifier.ts";
import { UseNotes } from "./use-notes.ts";

interface Parts {
  readonly ports: Pick<
    EnginePorts,
    "store" | "config" | "clock" | "monotonic" | "ids" | "setTimer" | "log"
  >;
  readonly engine: Pick<Engine, "epochs">;
  /** For the keys of the OpenID provider. */
  readonly fetch: TokenFetch;
}

/** Who is let in, with authorization on. */
export interface Access {
  readonly authentication: Authentication;
  /** Whoever proves tokens of a further kind adds itself. */
  readonly verifiers: TokenVerifiers;
  close(): Promise<void>;
}

/** Makes what lets callers in; undefined with authorization off, when everybody is anonymous (AUTH-2). */
export function createAccess({ ports, engine: { epochs }, fetch }: Parts): Access | undefined {
  const { auth } = ports.config.security;
  const { isOn, apiKeys, oidc } = authSwitch(auth);
  if (!isOn) return undefined;
  const verifiers = new TokenVerifiers();
  if (apiKeys) verifiers.use("api_key", new ApiKeyVerifier(ports));
  if (oidc) {
    const { issuer = "", audience, jwks_uri, algorithms, jwks_cache, clock_skew } = auth.oidc;
    const { clock, setTimer, log } = ports;
    const provider = createTokenVerifier({
      ...{ issuer, audience, jwks_uri, algorithms, jwks_cache, fetch, clock, setTimer },
      skew: clock_skew,
      warn: (message) => log.warn({ issuer }, message),
    });
    const parts = { ports, epochs, provider, oidc: auth.oidc, hasApiKeys: apiKeys };
    verifiers.use("oidc", new OidcVerifier(parts));
  }
  const uses = new UseNotes(ports);
  const authentication = new Authentication({ ports, epochs, verifiers, uses });
  return { authentication, verifiers, close: () => uses.close() };
}
