import {
  EngineError,
  ExecutionLimits,
  invalidField,
  WORKER_PROTOCOL,
  type WorkerRegistered,
  type WorkerRegistration,
} from "@engine/contract";
import type { AuditedCall } from "../auth/audit-entry.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { InOrder } from "../in-order.ts";
import type { Bus } from "../replicas/bus.ts";
import type { Admissions } from "./admissions.ts";
import type { HandOvers } from "./hand-over.ts";
import type { Liveness } from "./liveness.ts";
import { Session } from "./session.ts";
import { type SessionLookup, tokenHash } from "./session-lookup.ts";
import type { Sessions } from "./sessions.ts";

/** This release and the one before it understand each other (WRK-2). */
const SUPPORTED_PROTOCOLS = [WORKER_PROTOCOL, WORKER_PROTOCOL - 1].filter((n) => n >= 1);

interface Parts {
  readonly ports: EnginePorts;
  readonly sessions: Sessions;
  readonly handOvers: HandOvers;
  readonly liveness: Liveness;
  readonly lookup: Pick<SessionLookup, "learn">;
  readonly bus: Bus;
  readonly admissions: Admissions;
}

export interface Registered {
  readonly registered: WorkerRegistered;
  /** The name was never seen before. */
  readonly isNew: boolean;
}

/** Opens sessions (WRK-1 to WRK-4). */
export class WorkerRegistrations {
  readonly #parts: Parts;
  readonly #inOrder = new InOrder();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @param call The request; none for a worker in this process. */
  async register(registration: WorkerRegistration, call?: AuditedCall): Promise<Registered> {
    refuseMismatch(registration);
    return this.#inOrder.run(registration.name, () => this.#open(registration, call));
  }

  async #open(registration: WorkerRegistration, call?: AuditedCall): Promise<Registered> {
    const { sessions, lookup, liveness, handOvers, bus, ports, admissions } = this.#parts;
    const { name, protocol: _, ...rest } = registration;
    const { host, pid, labels, slots } = rest;
    const token = ports.token();
    const token_hash = tokenHash(token);
    const { mode: dispatch } = ports.config.dispatch;
    const fresh = { ...rest, session_id: ports.ids(), token_hash, worker: name, dispatch };
    const admitting = admissions.of(name, call);
    const opened = admitting
      ? admissions.settle(name, await ports.store.sessions.admit(fresh, admitting.admission))
      : await ports.store.sessions.open({ ...fresh, credential_line: null });
    const { session: row, is_new_worker, superseded } = opened;
    if (superseded) {
      const by = { host, pid };
      const earlier =
        sessions.find(superseded.session_id) ?? new Session(superseded, ports.monotonic);
      // Without a connection its process has died, and was started again.
      const isLost = earlier.isHeld ? !earlier.isConnected : superseded.disconnected_at !== null;
      this.end(superseded.session_id, by);
      void bus.send({ kind: "session", session: superseded.session_id, superseded_by: by });
      // The session's end is durable: should this break off here, the sweep takes its executions (LIV-3).
      await handOvers.all(earlier, isLost ? { loss: "session_lost" } : {});
      sessions.remove(earlier);
    }
    const session = lookup.learn(row, token_hash);
    await sessions.lookAtWorkers(() => ports.store.workers.find(name));
    liveness.heard(session);
    void bus.send({ kind: "session", session: row.session_id });

    const registered = {
      worker: { name, labels, slots },
      protocol: WORKER_PROTOCOL,
      session: token,
      dispatch,
      heartbeat_seconds: ports.config.workers.heartbeat_interval,
      executions: ExecutionLimits.parse(ports.config.executions),
      credential: admitting?.credential ?? null,
    };
    return { registered, isNew: is_new_worker };
  }

  /** Another process has taken the name: the session's worker is told, and given nothing more. */
  end(session_id: string, by: { readonly host: string; readonly pid: number }): void {
    const session = this.#parts.sessions.find(session_id);
    if (!session) return;
    session.ended = "superseded";
    session.send({ event: "superseded", data: by });
    this.#parts.liveness.unwatch(session);
    session.closeStream();
  }
}

function refuseMismatch({ protocol, labels, runners, default_runner }: WorkerRegistration): void {
  if (!SUPPORTED_PROTOCOLS.includes(protocol)) {
    throw new EngineError(
      "incompatible_worker",
      `the worker speaks protocol ${protocol}, this server ${SUPPORTED_PROTOCOLS.join(" and ")}; update the older of the two`,
      { details: { supported: SUPPORTED_PROTOCOLS } },
    );
  }
  const reserved = Object.keys(labels).find((key) => key.startsWith("engine."));
  if (reserved !== undefined) {
    const message = `label ${reserved} belongs to the engine`;
    const issues = [{ path: `body.labels.${reserved}`, message }];
    throw new EngineError("reserved_label", message, { details: { issues } });
  }
  if (!runners.includes(default_runner)) {
    const message = `default_runner ${default_runner} is not one of runners ${runners.join(", ")}`;
    throw invalidField("body.default_runner", message);
  }
}
