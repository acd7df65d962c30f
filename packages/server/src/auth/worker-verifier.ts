import { type Identity, type Route, WORKER_ISSUER } from "@engine/contract";
import type { AuthorizationRequest } from "@engine/http";
import { credentialState, type KnownWorkerCredential, OVERLAP_MS } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { isSame, NO_HASH } from "./api-key-verifier.ts";
import { EpochCache } from "./epoch-cache.ts";
import type { EpochWatch } from "./epoch-watch.ts";
import { secretHash, tokenId } from "./secret-token.ts";
import type { TokenVerifier } from "./token-verifier.ts";
import { unauthenticated, wrongCredentialKind } from "./unauthenticated.ts";
import { workerIdentity } from "./worker-identity.ts";

/** Routes that take a credential which has ended, too, for some time. */
const RENEWING: ReadonlySet<string> = new Set(["/workers/register", "/workers/{name}/credential"]);

const WORKER_HEADER = "x-engine-worker";

type Ports = Pick<EnginePorts, "store" | "config" | "clock" | "monotonic" | "ids" | "log">;

interface Parts {
  readonly ports: Ports;
  readonly epochs: EpochWatch;
}

/** Proves the credentials of workers (AUTH-49, AUTH-51). */
export class WorkerVerifier implements TokenVerifier {
  readonly kind = "worker_credential";
  readonly #parts: Parts;
  readonly #ports: Ports;
  /** By the hash of the token, once its use is noted. */
  readonly #known: EpochCache<KnownWorkerCredential>;
  /** When lines end, by their ids. */
  readonly #lines: EpochCache<number>;
  /** The lines of those who were let in. */
  readonly #lineOf = new WeakMap<Identity, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ports = parts.ports;
    const { config } = parts.ports;
    // All of it is rows whose every change raises the epoch, and times that are judged at each use: that
    // it is read again every so often would be a statement for each idle worker.
    const ttlMs = config.security.auth.cache_ttl === 0 ? 0 : Number.POSITIVE_INFINITY;
    const kept = { ...parts, of: "identity", ttlMs } as const;
    this.#known = new EpochCache(kept);
    this.#lines = new EpochCache(kept);
  }

  async identify(token: string, request: AuthorizationRequest, route: Route): Promise<Identity> {
    const key = secretHash(token);
    const known = this.#known.known(key) ?? (await this.#known.get(key, () => this.#find(token)));
    if (!known) throw unauthenticated("invalid");
    await this.#judge(known, key, RENEWING.has(route.path));
    refuseOthers(known.subject, request);
    const identity = identityOf(known);
    this.#lineOf.set(identity, known.line);
    return identity;
  }

  /**
   * An answer that goes on for long does so for as long as the line of its credential lives, which may
   * have been renewed by then (AUTH-58).
   */
  again(identity: Identity): Identity | Promise<Identity> {
    const line = this.#lineOf.get(identity) ?? "";
    const end = this.#lines.known(line);
    if (end !== undefined) return this.#ofLine(identity, end);
    const read = async () => (await this.#ports.store.workerCredentials.lineEnd(line)) ?? undefined;
    return this.#lines.get(line, read).then((ends_at) => this.#ofLine(identity, ends_at));
  }

  #ofLine(identity: Identity, ends_at: number | undefined): Identity {
    if (ends_at === undefined) throw unauthenticated("invalid");
    if (this.#ports.clock() >= ends_at) throw unauthenticated("expired");
    return identity;
  }

  /** Undefined where nothing is known, or its secret is another one. */
  async #find(token: string): Promise<KnownWorkerCredential | undefined> {
    const { workerCredentials } = this.#ports.store;
    const found = await workerCredentials.find(tokenId(token));
    // An unknown id takes as long as a wrong secret.
    return isSame(found?.secret_hash ?? NO_HASH, secretHash(token)) ? found : undefined;
  }

  async #judge(known: KnownWorkerCredential, key: string, isRenewing: boolean): Promise<void> {
    const { workerCredentials } = this.#ports.store;
    const at = this.#ports.clock();
    const renew_window_ms = this.#ports.config.workers.credential_renew_window * 1000;
    const state = credentialState(known, { at, renew_window_ms });
    if (state === "reused") await this.#revoke(known, at);
    if (state === "reused" || state === "revoked") throw unauthenticated("invalid");
    if (known.banned) throw unauthenticated("banned");
    if (!known.enabled) throw unauthenticated("disabled");
    if (state === "expired" || (state === "renewable" && !isRenewing))
      throw unauthenticated("expired");
    if (known.used_at !== null) return;
    // What is kept says that it is unused: it is read anew next time.
    this.#known.forget(key);
    if (await workerCredentials.use(known.id)) this.#parts.epochs.raised("identity");
  }

  /** Somebody else has a copy of it: nobody can tell who, so neither goes on. */
  async #revoke({ id, subject, superseded_at }: KnownWorkerCredential, at: number): Promise<void> {
    const { store, ids, log } = this.#ports;
    const worker = { subject, issuer: WORKER_ISSUER, type: "worker" } as const;
    const revoked = await store.workerCredentials.revoke(id, {
      id: ids(),
      at,
      actor: worker,
      credential: { kind: this.kind, id },
      via_execution: null,
      action: "worker.credential_reuse",
      target: subject,
      decision: "deny",
      permissions: [],
      reason: `used more than ${OVERLAP_MS / 1000} s after its successor`,
      client_address: null,
      request_id: null,
      changes: null,
    });
    if (!revoked) return;
    this.#parts.epochs.raised("identity");
    log.warn(
      { worker: subject, superseded_at },
      "a worker's credential was used long after its successor, so there may be a copy of it: both are revoked, and the worker joins again by a token",
    );
  }
}

/** The worker that a request names has to be the one that sends it (AUTH-49). */
function refuseOthers(subject: string, { params, headers }: AuthorizationRequest): void {
  const named = [params["name"], headers[WORKER_HEADER]];
  if (named.some((name) => name !== undefined && name !== subject)) throw wrongCredentialKind();
}

function identityOf(known: KnownWorkerCredential): Identity {
  const { id, principal_id, subject, expires_at, superseded_at } = known;
  const ends_at =
    superseded_at === null ? expires_at : Math.min(expires_at, superseded_at + OVERLAP_MS);
  return workerIdentity(subject, principal_id, {
    kind: "worker_credential",
    id,
    expires_at: ends_at,
  });
}
