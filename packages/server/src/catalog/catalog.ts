import {
  type Assignment,
  EngineError,
  type ExtractedWorkflow,
  notFound,
  type Registered,
  type Registration,
  type SourceFile,
  type SourceIssue,
  type WorkflowRecord,
} from "@engine/contract";
import type { ReadRegistration } from "@engine/sources";
import type {
  NewVersions,
  Page,
  Store,
  StoredVersion,
  Visible,
  WorkflowFilter,
} from "@engine/store";
import type { Domain } from "../domain.ts";
import type { Bus } from "../replicas/bus.ts";
import type { ScheduleDeclarations } from "../schedules/schedule-declarations.ts";

interface Paging {
  readonly limit: number;
  readonly offset: number;
}

interface NamespacePage extends Paging {
  readonly visible?: Visible | undefined;
}

interface LoadedModule {
  readonly bundle: string;
  readonly ref: Assignment["module"];
}

export interface CatalogParts {
  readonly store: Store;
  /** Without it, declared schedules are left alone. */
  readonly schedules?: ScheduleDeclarations | undefined;
  readonly read: ReadRegistration;
  /** To the other servers on the store. */
  readonly bus?: Pick<Bus, "send" | "listen" | "isShared">;
}

/** Bundles kept in memory; past it they are read from the store again. */
const LOADED_MODULES = 256;

/** The registered workflows: their versions, sources and bundles. */
export class Catalog implements Domain {
  readonly #store: Store;
  readonly #schedules: ScheduleDeclarations | undefined;
  /** Versions that were asked for: every start needs one. Latest ones under the bare name. */
  readonly #versions = new Map<string, StoredVersion>();
  readonly #modules = new Map<string, LoadedModule>();
  /** Grows with every change of the catalog, so that a read from before it is not kept after it. */
  #changes = 0;

  readonly #read: ReadRegistration;
  readonly #bus: CatalogParts["bus"];

  constructor({ store, schedules, read, bus }: CatalogParts) {
    this.#store = store;
    this.#read = read;
    this.#schedules = schedules;
    this.#bus = bus;
    bus?.listen(({ kind }) => {
      if (kind === "catalog") this.#forget();
    });
  }

  /** What another server said of its changes may have been lost. */
  refresh(): void {
    if (this.#bus?.isShared) this.#forget();
  }

  /** Registers the workflows of one file, all or none of them (EXE-59, EXE-64). */
  async register(
    registration: Registration,
    options: {
      readonly dryRun?: boolean | undefined;
      readonly by: string | null;
      /** Throws for workflows that the caller may not register. */
      readonly demand?: (workflows: readonly ExtractedWorkflow[]) => void;
    },
  ): Promise<Registered> {
    const { issues, warnings, ...read } = await this.#read(registration);
    refuseIssues(issues);
    const declared = read.workflows.map(({ extracted }) => extracted);
    options.demand?.(declared);
    const versions: NewVersions = {
      ...read,
      created_by: options.by,
      schedules: this.#schedules?.declared(declared),
    };
    const { dryRun } = options;
    const items = await this.#store.catalog.register(versions, { dryRun });
    if (!dryRun) await this.#changed();
    return { items: [...items], warnings };
  }

  /** Deletes one version or all: new runs refuse them, executions pinned to them go on (EXE-70). */
  async delete(namespace: string, name: string, version?: number): Promise<void> {
    const put = this.#schedules?.afterDeletion;
    const deleted = await this.#store.catalog.delete(namespace, name, version, put);
    await this.#changed();
    if (deleted.length === 0) throw await this.#unknown(namespace, name, version);
  }

  list(filter: WorkflowFilter): Promise<Page<WorkflowRecord>> {
    return this.#store.catalog.listWorkflows(filter);
  }

  namespaces(page: NamespacePage): Promise<Page<{ namespace: string; workflow_count: number }>> {
    return this.#store.catalog.listNamespaces(page);
  }

  async get(namespace: string, name: string, version?: number): Promise<WorkflowRecord> {
    return (await this.resolve(namespace, name, version)).record;
  }

  async versions(namespace: string, name: string, page: Paging): Promise<Page<WorkflowRecord>> {
    await this.resolve(namespace, name);
    return this.#store.catalog.listVersions(namespace, name, page);
  }

  readFiles({ namespace, name, version }: WorkflowRecord): Promise<readonly SourceFile[]> {
    return this.#store.catalog.readFiles(namespace, name, version);
  }

  /** The version a start is pinned to: the one asked for, or the latest. */
  async resolve(namespace: string, name: string, version?: number): Promise<StoredVersion> {
    const key = `${namespace}/${name}/${version ?? ""}`;
    const known = this.#versions.get(key);
    if (known) return known;
    const changes = this.#changes;
    const found = await this.#store.catalog.find(namespace, name, version);
    if (!found) throw await this.#unknown(namespace, name, version);
    if (changes === this.#changes) this.#versions.set(key, found);
    return found;
  }

  /** The version that was registered with a module, which may have been deleted since (EXE-54). */
  findOfModule(
    namespace: string,
    name: string,
    module_hash: string,
  ): Promise<StoredVersion | undefined> {
    return this.#store.catalog.findOfModule(namespace, name, module_hash);
  }

  /** The bundle's hash and size, if the bundle was read already. */
  loadedModule(hash: string | null): Assignment["module"] | undefined {
    return hash === null ? undefined : this.#modules.get(hash)?.ref;
  }

  async loadModule(hash: string | null): Promise<Assignment["module"]> {
    return (await this.#load(hash)).ref;
  }

  async readBundle(hash: string): Promise<string> {
    return (await this.#load(hash)).bundle;
  }

  async #load(hash: string | null): Promise<LoadedModule> {
    const known = this.#modules.get(hash ?? "");
    if (known) return known;
    const bundle = hash === null ? undefined : await this.#store.catalog.readModule(hash);
    if (hash === null || bundle === undefined) throw notFound("module", `${hash}`);
    const loaded = { bundle, ref: { hash, bytes: Buffer.byteLength(bundle) } };
    if (this.#modules.size >= LOADED_MODULES) this.#modules.clear();
    this.#modules.set(hash, loaded);
    return loaded;
  }

  /** Whoever registered starts it next, perhaps on another server: that one is told before. */
  async #changed(): Promise<void> {
    this.#forget();
    this.#schedules?.changed();
    await this.#bus?.send({ kind: "catalog" });
  }

  /** Workflows were registered or deleted: which versions there are is read anew. */
  #forget(): void {
    this.#changes++;
    this.#versions.clear();
  }

  async #unknown(namespace: string, name: string, version?: number): Promise<EngineError> {
    const workflow = `${namespace}/${name}`;
    const exists =
      version !== undefined && (await this.#store.catalog.find(namespace, name)) !== undefined;
    return exists
      ? notFound("version", `${version} of ${workflow}`)
      : notFound("workflow", workflow);
  }
}

function refuseIssues(issues: readonly SourceIssue[]): void {
  const [first] = issues;
  if (!first) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  throw new EngineError(
    "invalid_input",
    `${first.file}:${first.line}:${first.column} ${first.message}${more}`,
    { details: { issues } },
  );
}
