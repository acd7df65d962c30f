import { isDeepStrictEqual } from "node:util";
import type { EpochWatch } from "../auth/epoch-watch.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { type ServiceView, viewOf, workflowsOf } from "./service-view.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store">;
  readonly epochs: Pick<EpochWatch, "current" | "onChange">;
  readonly catalog: Pick<Catalog, "onChange">;
}

/** Services that are kept in memory; beyond them they are read again. */
const MOST_KEPT = 1_000;

/**
 * Services with what they offer now. They are kept until a service or a workflow changes, on whichever
 * server, and no request is answered by what was read before a change that is over a second old (SVC-5).
 */
export class ServiceViews {
  readonly #parts: Parts;
  readonly #kept = new Map<string, Promise<ServiceView | undefined>>();

  constructor(parts: Parts) {
    this.#parts = parts;
    const forget = () => this.#kept.clear();
    parts.epochs.onChange("services", forget);
    parts.catalog.onChange(forget);
  }

  /** Undefined for a service that there is not. */
  async find(name: string): Promise<ServiceView | undefined> {
    // Where nobody can say what has changed, the store itself is asked.
    if (!(await this.#parts.epochs.current())) return this.#read(name);
    const kept = this.#kept.get(name);
    if (kept) return kept;
    const reading = this.#read(name);
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(name, reading);
    reading.catch(() => {
      if (this.#kept.get(name) === reading) this.#kept.delete(name);
    });
    return reading;
  }

  /**
   * The service and what it chooses are two reads. Where the service has changed in between they belong
   * to no moment: a name that was excluded before it could collide would be told as one that collides.
   */
  async #read(name: string): Promise<ServiceView | undefined> {
    const { store } = this.#parts.ports;
    let row = await store.services.find(name);
    while (row) {
      const { namespaces } = row;
      const chosen = await store.catalog.chosen({ namespaces, workflows: workflowsOf(row) });
      const now = await store.services.find(name);
      if (isDeepStrictEqual(now, row)) return viewOf(row, chosen);
      row = now;
    }
    return undefined;
  }
}
