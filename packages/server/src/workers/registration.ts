import { hash } from "node:crypto";
import {
  type Config,
  EngineError,
  type ExecutionLimits,
  WORKER_PROTOCOL,
  type WorkerRegistered,
  type WorkerRegistration,
} from "@engine/contract";
import type { EnginePorts } from "../engine-ports.ts";
import type { HandOvers } from "./hand-over.ts";
import type { Liveness } from "./liveness.ts";
import { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** This release and the one before it understand each other (WRK-2). */
const SUPPORTED_PROTOCOLS = [WORKER_PROTOCOL, WORKER_PROTOCOL - 1].filter((n) => n >= 1);

/** Only this is kept of a session's secret. */
export function tokenHash(token: string): string {
  return hash("sha256", token, "hex");
}

interface Parts {
  readonly ports: EnginePorts;
  readonly sessions: Sessions;
  readonly handOvers: HandOvers;
  readonly liveness: Liveness;
}

export interface Registered {
  readonly registered: WorkerRegistered;
  /** The name was never seen before. */
  readonly isNew: boolean;
}

/** Opens sessions (WRK-1 to WRK-4). */
export class WorkerRegistrations {
  readonly #parts: Parts;
  /** The last registration under each name: they go one after another. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async register(registration: WorkerRegistration): Promise<Registered> {
    refuseMismatch(registration);
    const { name } = registration;
    const before = this.#underWay.get(name);
    const mine = Promise.allSettled([before]).then(() => this.#open(registration));
    this.#underWay.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#underWay.get(name) === mine) this.#underWay.delete(name);
    }
  }

  async #open(registration: WorkerRegistration): Promise<Registered> {
    const { ports, sessions, liveness } = this.#parts;
    const { name, instance_id, host, pid, labels, slots, runners, default_runner } = registration;
    const earlier = sessions.findByWorker(name);
    if (earlier && earlier.instance_id !== instance_id) await this.#supersede(earlier);

    const token = ports.token();
    const token_hash = tokenHash(token);
    const { session: row, is_new_worker } = await ports.store.openSession({
      session_id: ports.ids(),
      token_hash,
      worker: name,
      instance_id,
      host,
      pid,
      labels,
      slots,
      runners,
      default_runner,
    });
    if (earlier?.ended) {
      earlier.send({ event: "superseded", data: { host, pid } });
      earlier.closeStream();
      liveness.unwatch(earlier);
      sessions.remove(earlier);
    }
    const session =
      sessions.find(row.session_id) ?? new Session(row, { now: ports.clock(), isInherited: false });
    sessions.add(session, token_hash);
    liveness.heard(session);
    if (!session.isConnected) liveness.watch(session);

    const { heartbeat_interval } = ports.config.workers;
    const registered = {
      worker: { name, labels, slots },
      session: token,
      heartbeat_seconds: heartbeat_interval,
      executions: limitsOf(ports.config),
    };
    return { registered, isNew: is_new_worker };
  }

  /**
   * The executions of the process that had the name go back first, then its session ends: a crash
   * in between leaves nothing that belongs to an ended session.
   */
  async #supersede(earlier: Session): Promise<void> {
    earlier.ended = "superseded";
    await this.#parts.handOvers.all(earlier);
  }
}

function limitsOf({ executions }: Config): ExecutionLimits {
  const { inline_wait, sibling_grace, rollback_timeout } = executions;
  const { max_events, inline_value_bytes, max_value_bytes } = executions;
  return {
    inline_wait,
    sibling_grace,
    rollback_timeout,
    max_events,
    inline_value_bytes,
    max_value_bytes,
  };
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
    throw refused(
      "reserved_label",
      `labels.${reserved}`,
      `label ${reserved} belongs to the engine`,
    );
  }
  if (!runners.includes(default_runner)) {
    const message = `default_runner ${default_runner} is not one of runners ${runners.join(", ")}`;
    throw refused("invalid_input", "default_runner", message);
  }
}

function refused(
  code: "reserved_label" | "invalid_input",
  path: string,
  message: string,
): EngineError {
  return new EngineError(code, message, {
    details: { issues: [{ path: `body.${path}`, message }] },
  });
}
