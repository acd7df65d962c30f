import { authSwitch } from "@engine/contract";
import { createTokenVerifier, type TokenFetch } from "@engine/oidc";
import type { Engine } from "../engine.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { ApiKeyVerifier } from "./api-key-verifier.ts";
import { Authentication } from "./authentication.ts";
import {
  BootstrapTokenVerifier,
  configuredBootstrap,
  isText,
  JoinTokenVerifier,
} from "./joining-verifiers.ts";
import { OidcVerifier } from "./oidc-verifier.ts";
import { OwnProcessVerifier } from "./own-process-verifier.ts";
import { TokenVerifiers } from "./token-verifier.ts";
import { UseNotes } from "./use-notes.ts";
import { WorkerVerifier } from "./worker-verifier.ts";

interface Parts {
  readonly ports: Pick<
    EnginePorts,
    "store" | "config" | "clock" | "monotonic" | "ids" | "setTimer" | "log"
  >;
  readonly engine: Pick<Engine, "epochs">;
  /** With it the process calls the server in it (AUTH-63). */
  readonly ownToken?: string | undefined;
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
export function createAccess({
  ports,
  engine: { epochs },
  fetch,
  ownToken,
}: Parts): Access | undefined {
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
  verifiers.use("worker_credential", new WorkerVerifier({ ports, epochs }));
  verifiers.use("join_token", new JoinTokenVerifier(ports));
  const { bootstrap_token = "", bootstrap_token_enabled } = ports.config.workers;
  if (bootstrap_token_enabled) {
    if (bootstrap_token) verifiers.useFor(isText(bootstrap_token), configuredBootstrap);
    else verifiers.use("bootstrap_token", new BootstrapTokenVerifier(ports));
  }
  if (ownToken) verifiers.use("internal", new OwnProcessVerifier(ownToken));
  const uses = new UseNotes(ports);
  const authentication = new Authentication({ ports, epochs, verifiers, uses });
  return { authentication, verifiers, close: () => uses.close() };
}
