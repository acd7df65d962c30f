import { EngineError, type Identity, type Route, rightsInBoth, rightsOf } from "@engine/contract";
import { type AuthorizationRequest, type Authorize, type Caller, denied } from "@engine/http";
import type { EnginePorts } from "../engine-ports.ts";
import { refuseKind } from "./credential-routes.ts";
import { EpochCache } from "./epoch-cache.ts";
import type { EpochWatch } from "./epoch-watch.ts";
import { secretHash } from "./secret-token.ts";
import { bearerToken } from "./token-shape.ts";
import type { KeptVerifier, TokenVerifier, TokenVerifiers } from "./token-verifier.ts";
import type { UseNotes } from "./use-notes.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "config" | "clock" | "monotonic">;
  readonly epochs: EpochWatch;
  readonly verifiers: TokenVerifiers;
  readonly uses: Pick<UseNotes, "note">;
}

/** A caller whose credential is kept. */
interface Known {
  readonly caller: Caller;
  readonly identity: Identity;
  /** Until then its use need not be noted again. */
  notedUntil: number;
}

/** A route that is open looks at no credential. */
const ANYBODY: Caller = { principal: null };

/** How often the use of a credential is noted at most. */
const NOTE_MS = 60_000;

/** Says who calls, with authorization on. */
export class Authentication {
  readonly #parts: Parts;
  /** By the hash of the token: the text of a token is not kept as a key. */
  readonly #known: EpochCache<Known>;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { ports, epochs } = parts;
    const ttlMs = ports.config.security.auth.cache_ttl * 1000;
    this.#known = new EpochCache({ ports, epochs, of: "identity", ttlMs });
  }

  /** A credential that is known already is answered at once. */
  readonly authorize: Authorize = (route, request) => {
    if (route.permission.kind === "open") return ANYBODY;
    const token = bearerToken(request.raw_headers);
    const verifier = this.#parts.verifiers.of(token);
    if (!verifier.isKept) return this.#identify({ verifier, token, request, route });
    const known = this.#ofKept(token, verifier);
    if (known instanceof Promise) {
      return known.then(({ caller }) => {
        refuseKind(verifier.kind, route);
        return caller;
      });
    }
    refuseKind(verifier.kind, route);
    return known.caller;
  };

  /**
   * Proves a token that somebody else holds, without letting anybody in.
   *
   * @throws EngineError `unauthenticated`, `auth_unavailable`; `permission_denied` for a kind that counts
   * only together with a request.
   */
  async test(token: string): Promise<Identity> {
    const verifier = this.#parts.verifiers.of(token);
    if (!verifier.isKept) {
      throw new EngineError("permission_denied", "this kind of token is proven by its use alone", {
        details: { missing_permissions: [], reason: "credential_kind" },
      });
    }
    return verifier.test ? verifier.test(token) : verifier.identify(token);
  }

  async #identify(asked: {
    readonly verifier: TokenVerifier;
    readonly token: string;
    readonly request: AuthorizationRequest;
    readonly route: Route;
  }): Promise<Caller> {
    const { verifier, token, request, route } = asked;
    const identity = await verifier.identify(token, request, route);
    refuseKind(verifier.kind, route);
    this.#parts.uses.note(identity);
    const ask: () => Caller | Promise<Caller> = () => {
      const now = verifier.again?.(identity);
      if (now === undefined) return this.#identify(asked);
      if (now instanceof Promise)
        return now.then((same) => (same === identity ? caller : callerOf(same, ask)));
      return now === identity ? caller : callerOf(now, ask);
    };
    const caller = callerOf(identity, ask);
    return caller;
  }

  /** At once, where nothing can have changed since it was proven. */
  #ofKept(token: string, verifier: KeptVerifier): Known | Promise<Known> {
    const key = secretHash(token);
    const known = this.#known.known(key);
    if (known && !this.#hasEnded(known)) return this.#used(known);
    if (known) this.#known.forget(key);
    return this.#prove(key, { token, verifier });
  }

  async #prove(
    key: string,
    { token, verifier }: { readonly token: string; readonly verifier: KeptVerifier },
  ): Promise<Known> {
    const load = async (): Promise<Known> => {
      const identity = await verifier.identify(token);
      const again = () => {
        const now = this.#ofKept(token, verifier);
        return now instanceof Promise ? now.then(({ caller }) => caller) : now.caller;
      };
      return { identity, caller: callerOf(identity, again), notedUntil: 0 };
    };
    const known = await this.#known.get(key, load);
    return this.#used(this.#hasEnded(known) ? await load() : known);
  }

  #hasEnded({ identity }: Known): boolean {
    const { expires_at } = identity.credential;
    return expires_at !== null && this.#parts.ports.clock() >= expires_at;
  }

  #used(known: Known): Known {
    const now = this.#parts.ports.monotonic();
    if (now >= known.notedUntil) {
      known.notedUntil = now + NOTE_MS;
      this.#parts.uses.note(known.identity);
    }
    return known;
  }
}

/** A caller who holds everything has no rights to be judged by, as without authorization. */
function callerOf(identity: Identity, ask: () => Caller | Promise<Caller>): Caller {
  const rights = rightsOfIdentity(identity);
  const caller: Caller = { principal: identity.id, identity, again };
  return rights ? { ...caller, rights } : caller;

  function again(): Caller | Promise<Caller> {
    const now = ask();
    return now instanceof Promise ? now.then(judged) : judged(now);
  }

  function judged(now: Caller): Caller {
    // Nothing was demanded of somebody who held everything, so nothing can be demanded again.
    if (!rights && now.rights) throw denied(["*"]);
    return now;
  }
}

/** Undefined where everything is held. */
function rightsOfIdentity({ grants, narrowed_to }: Identity): Caller["rights"] {
  const isNarrow = narrowed_to !== null && !narrowed_to.includes("*");
  if (grants.includes("*")) return isNarrow ? rightsOf(narrowed_to) : undefined;
  return isNarrow ? rightsInBoth(rightsOf(grants), rightsOf(narrowed_to)) : rightsOf(grants);
}
