import { type ExtractedWorkflow, notFound } from "@engine/contract";
import type { RunCatalog, RunVersion } from "../auth/run-lists.ts";
import type { FreshCatalog } from "./fresh-catalog.ts";

/** The catalog as it is once some workflows are registered. */
export class UploadedCatalog implements RunCatalog {
  readonly #uploaded: ReadonlyMap<string, ExtractedWorkflow>;
  readonly #catalog: FreshCatalog;

  constructor(uploaded: readonly ExtractedWorkflow[], catalog: FreshCatalog) {
    this.#uploaded = new Map(uploaded.map((each) => [`${each.namespace}/${each.name}`, each]));
    this.#catalog = catalog;
  }

  async find(namespace: string, name: string, version?: number): Promise<RunVersion | undefined> {
    const record = version === undefined ? this.#uploaded.get(`${namespace}/${name}`) : undefined;
    return record ? { record, module_hash: null } : this.#catalog.find(namespace, name, version);
  }

  async resolve(namespace: string, name: string, version?: number): Promise<RunVersion> {
    const found = await this.find(namespace, name, version);
    if (!found) throw notFound("workflow", `${namespace}/${name}`);
    return found;
  }

  findOfModule(...of: Parameters<RunCatalog["findOfModule"]>): Promise<RunVersion | undefined> {
    return this.#catalog.findOfModule(...of);
  }
}
