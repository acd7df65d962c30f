import { notFound } from "@engine/contract";
import type { StoredVersion } from "@engine/store";
import type { Catalog } from "../catalog/catalog.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { SharedReads } from "./shared-reads.ts";

/**
 * The catalog as the store has it at this instant: what decides whether a hook fires is not taken from
 * memory, where it may be older on one server than on another (HOOK-26).
 */
export class FreshCatalog implements Pick<Catalog, "resolve" | "findOfModule"> {
  readonly #ports: Pick<EnginePorts, "store">;
  readonly #reads = new SharedReads();

  constructor(ports: Pick<EnginePorts, "store">) {
    this.#ports = ports;
  }

  /** Undefined where nobody has registered it, or it was deleted. */
  find(namespace: string, name: string, version?: number): Promise<StoredVersion | undefined> {
    const { catalog } = this.#ports.store;
    const key = `${namespace}/${name}@${version}`;
    return this.#reads.share(key, () => catalog.find(namespace, name, version));
  }

  async resolve(namespace: string, name: string, version?: number): Promise<StoredVersion> {
    const found = await this.find(namespace, name, version);
    if (!found) throw notFound("workflow", `${namespace}/${name}`);
    return found;
  }

  findOfModule(
    namespace: string,
    name: string,
    module_hash: string,
  ): Promise<StoredVersion | undefined> {
    return this.#ports.store.catalog.findOfModule(namespace, name, module_hash);
  }
}
