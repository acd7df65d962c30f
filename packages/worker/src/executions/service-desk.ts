import { EngineError, type SessionRef } from "@engine/contract";
import { type OwnSession, WorkerEnded } from "../link/own-session.ts";
import type { Calls } from "../link/text-link.ts";
import type { ServiceAnswer, ServiceRequest, Services } from "../runners/messages.ts";
import { hasCode, messageOf } from "../transient.ts";
import type { ValuesSource } from "../values-source.ts";
import type { World } from "../world.ts";
import type { Copy } from "./copy.ts";
import { ExecutionTokens } from "./execution-tokens.ts";
import { canHide } from "./hidden-values.ts";
import type { Reservations } from "./reservations.ts";

export interface ServiceDeskOptions extends Pick<World, "setTimer"> {
  readonly link: Calls;
  readonly session: OwnSession;
  /** In place of those that the server keeps. */
  readonly values: ValuesSource | undefined;
  readonly reservations: Reservations;
  /** What the server's clock shows, milliseconds since 1970. */
  serverTime(): number;
  /** Another worker owns the execution now: the copy ends. */
  onStale(copy: Copy): void;
}

type Send<T> = (ref: SessionRef, of: { readonly generation: number }) => Promise<T>;

/** The copy that asked has stopped. */
class Abandoned extends Error {
  override readonly name = "Abandoned";
}

/** Carries out requests of tasks that only the main thread can, since it holds the session (RUN-1). */
export class ServiceDesk {
  readonly tokens: ExecutionTokens;
  readonly #options: ServiceDeskOptions;

  constructor(options: ServiceDeskOptions) {
    const { link } = options;
    this.#options = options;
    this.tokens = new ExecutionTokens({
      ...options,
      renew: (copy) =>
        this.#persist(copy, (ref, of) => link.executionToken(ref, copy.execution_id, of)),
    });
  }

  /** Answers when it is certain; undefined when nobody waits any more. Never rejects. */
  async answer(copy: Copy, request: ServiceRequest): Promise<ServiceAnswer | undefined> {
    try {
      return { ok: true, value: await this.#carryOut(copy, request) };
    } catch (error) {
      if (error instanceof Abandoned || error instanceof WorkerEnded) return undefined;
      const refusal =
        error instanceof EngineError ? error : new EngineError("internal", messageOf(error));
      return { ok: false, error: refusal.toBody().error };
    }
  }

  /** The copy does not run here any more: what its tasks had of the budget is free, its token gone. */
  left(copy: Copy): void {
    this.tokens.drop(copy);
    this.#options.reservations.releaseAll(copy.number);
  }

  #carryOut(copy: Copy, { method, args }: ServiceRequest): unknown {
    const services = this.#servicesOf(copy);
    // A method and its arguments belong together, which TypeScript cannot see through a union.
    return (services[method] as (...args: unknown[]) => unknown)(...args);
  }

  #servicesOf(copy: Copy): Services {
    const { link, values, reservations, session } = this.#options;
    const { execution_id: id } = copy;
    const ask = <T>(send: Send<T>) => this.#persist(copy, send);
    return {
      async lookUp({ namespace: _, ...key }) {
        const { text } = await ask((ref, of) => link.cacheLookup(ref, id, { ...of, key }));
        return text ?? undefined;
      },
      keep: ({ namespace: _, ...key }, text, ttl_ms) =>
        ask((ref, of) => link.cacheKeep(ref, id, { ...of, key, text, ttl_ms })),
      saveValue: (text, hidden) =>
        ask((ref, of) => {
          const isHidden = hidden && canHide(session.answer.protocol);
          return link.saveValue(ref, id, { ...of, text, hidden: isHidden });
        }),
      loadValue: ({ reference_id }) =>
        ask((ref, of) => link.loadValue(ref, id, { ...of, reference_id })),
      secrets: (task, names) =>
        values
          ? ask(() => values.secrets(id, task, names))
          : existing(names, (names) =>
              ask((ref, of) => link.secrets(ref, id, { ...of, task, names })),
            ),
      configs: (task, names) =>
        values
          ? ask(() => values.configs(id, task, names))
          : existing(names, (names) =>
              ask((ref, of) => link.configs(ref, id, { ...of, task, names })),
            ),
      executionToken: () => this.tokens.of(copy),
      reserve: (call, requests) => reservations.reserve(copy.number, call, requests),
      retake: (call, requests) => reservations.retake(copy.number, call, requests),
      release: (call) => reservations.release(copy.number, call),
    };
  }

  /** Makes a call until its answer is certain, under the generation that the copy has by then. */
  async #persist<T>(copy: Copy, send: Send<T>): Promise<T> {
    const { session, onStale } = this.#options;
    for (;;) {
      let { generation } = copy;
      try {
        const answered = await session.persist(async (ref) => {
          if (copy.state !== "held") return undefined;
          generation = copy.generation;
          return { value: await send(ref, { generation }) };
        });
        if (!answered) throw new Abandoned("the copy that asked has stopped");
        return answered.value;
      } catch (error) {
        if (!hasCode(error, "stale_claim") || copy.state !== "held") throw error;
        if (generation === copy.generation) {
          onStale(copy);
          throw new Abandoned("the execution is another worker's");
        }
        // The claim was renewed meanwhile: the same call is right under its new generation.
      }
    }
  }
}

type Values = Readonly<Record<string, unknown>>;

/** Those of the names that exist: the server refuses to answer any where one is missing. */
async function existing(
  names: readonly string[],
  ask: (names: readonly string[]) => Promise<Values>,
): Promise<Values> {
  if (names.length === 0) return {};
  try {
    return await ask(names);
  } catch (error) {
    const missing = hasCode(error, "not_found") ? error.details?.["names"] : undefined;
    if (!Array.isArray(missing)) throw error;
    const left = names.filter((name) => !missing.includes(name));
    if (left.length === names.length) throw error;
    return existing(left, ask);
  }
}
