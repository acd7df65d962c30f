import {
  type AuditEntry,
  authSwitch,
  EngineError,
  formatInstant,
  type Identity,
  WORKER_ISSUER,
  type WorkerCredential,
} from "@engine/contract";
import type { Admission, AdmittedSession, Shown } from "@engine/store";
import { type AuditedCall, auditEntry } from "../auth/audit-entry.ts";
import type { EpochWatch } from "../auth/epoch-watch.ts";
import { newSecretToken } from "../auth/secret-token.ts";
import { unauthenticated } from "../auth/unauthenticated.ts";
import type { EnginePorts } from "../engine-ports.ts";

type Ports = Pick<EnginePorts, "store" | "config" | "clock" | "ids" | "token">;

interface Parts {
  readonly ports: Ports;
  readonly epochs: EpochWatch;
}

/** Who asks for a name, and what it gets with it. */
export interface Admitting {
  readonly admission: Admission;
  /** Null for the worker of this process, which needs none. */
  readonly credential: WorkerCredential | null;
}

/** Lets workers have their names, and their credentials (AUTH-50, AUTH-51). */
export class Admissions {
  readonly #ports: Ports;
  readonly #epochs: EpochWatch;
  readonly #isOn: boolean;

  constructor({ ports, epochs }: Parts) {
    this.#ports = ports;
    this.#epochs = epochs;
    this.#isOn = authSwitch(ports.config.security.auth).isOn;
  }

  /**
   * What is needed to register a name; undefined without authorization.
   *
   * @param call The request; none for the worker in this process, which is trusted (AUTH-63).
   */
  of(worker: string, call: AuditedCall | undefined): Admitting | undefined {
    const identity = call?.caller.identity;
    if (call && identity) {
      const { stored, shown } = this.#fresh();
      const entry = auditEntry(call, { target: worker }, this.#ports);
      return {
        admission: this.#admission(worker, { shown: this.#shown(identity), stored, entry }),
        credential: shown,
      };
    }
    // With authorization on there is no request without an identity.
    if (call || !this.#isOn) return undefined;
    const { stored } = this.#fresh();
    const entry = this.#ownEntry(worker);
    return {
      admission: this.#admission(worker, { shown: { kind: "process" }, stored, entry }),
      credential: null,
    };
  }

  /** @throws EngineError for a worker that may not have the name. */
  settle(worker: string, admitted: AdmittedSession): NonNullable<AdmittedSession["opened"]> {
    const { opened, refused } = admitted;
    if (opened) {
      this.#epochs.raised("identity");
      return opened;
    }
    switch (refused) {
      case "unauthenticated":
        throw unauthenticated("invalid");
      case "unavailable":
        throw new EngineError(
          "worker_name_unavailable",
          `the name ${worker} belongs to a worker already; choose another one, or use a join token that is for this name`,
          { details: { worker } },
        );
      default:
        throw new EngineError("permission_denied", `worker ${worker} is ${refused}`, {
          details: { missing_permissions: [], reason: refused },
        });
    }
  }

  /**
   * Gives a worker the successor of the credential that it sent.
   *
   * @throws EngineError `unauthenticated` when that was revoked meanwhile, `conflict` without
   * authorization, when nobody has one.
   */
  async renew(worker: string, call: AuditedCall): Promise<WorkerCredential> {
    const { identity } = call.caller;
    const id = identity?.credential.id;
    if (!id) {
      const message = "authorization is off: workers have no credentials";
      throw new EngineError("conflict", message);
    }
    const { stored, shown } = this.#fresh();
    const changes = { credential: { before: id, after: stored.id } };
    const audit = auditEntry(call, { target: worker, changes }, this.#ports);
    const renew_window_ms = this.#renewWindowMs;
    const isRenewed = await this.#ports.store.workerCredentials.renew(id, stored, {
      renew_window_ms,
      audit,
    });
    if (!isRenewed) throw unauthenticated("invalid");
    return shown;
  }

  get #renewWindowMs(): number {
    return this.#ports.config.workers.credential_renew_window * 1000;
  }

  #shown({ credential: { kind, id } }: Identity): Shown {
    if (kind === "bootstrap_token") return { kind };
    if (kind === "join_token" && id !== null) return { kind, id };
    if (kind === "worker_credential" && id !== null)
      return { kind, id, renew_window_ms: this.#renewWindowMs };
    throw new Error(`a ${kind} was let in to register a worker`);
  }

  /** A credential as it is kept, and as it is shown this once. */
  #fresh(): { readonly stored: Admission["credential"]; readonly shown: WorkerCredential } {
    const { id, token, secret_hash } = newSecretToken("engine_wk", this.#ports);
    const expires_at = this.#ports.clock() + this.#ports.config.workers.credential_ttl * 1000;
    return {
      stored: { id, secret_hash, expires_at },
      shown: { token, expires_at: formatInstant(expires_at) },
    };
  }

  #admission(
    subject: string,
    { shown, stored, entry }: { shown: Shown; stored: Admission["credential"]; entry: AuditEntry },
  ): Admission {
    // Whoever comes with a token is the worker, once it is let in.
    const actor = { subject, issuer: WORKER_ISSUER, type: "worker" } as const;
    const changes =
      shown.kind === "process" ? null : { credential: { before: null, after: stored.id } };
    const { ids } = this.#ports;
    return {
      shown,
      principal_id: ids(),
      credential: stored,
      audit: {
        admitted: { ...entry, actor, changes },
        revoked: { ...entry, id: ids(), actor, action: "worker.credential_revoked" },
      },
    };
  }

  #ownEntry(target: string): AuditEntry {
    const { ids, clock } = this.#ports;
    return {
      id: ids(),
      at: clock(),
      actor: null,
      credential: { kind: "internal", id: null },
      via_execution: null,
      action: "workers.register",
      target,
      decision: "allow",
      permissions: [],
      reason: null,
      client_address: null,
      request_id: null,
      changes: null,
    };
  }
}
