import { createHash } from "node:crypto";
import {
  type Assignment,
  type AuditEntry,
  EngineError,
  type ErrorCode,
  type ExecutionRow,
  type ExtractedWorkflow,
  notFound,
  placementText,
  type Registered,
  type Registration,
  type SourceFile,
  type SourceIssue,
  type WorkflowRecord,
} from "@engine/contract";
import type { ReadRegistration, RegistrationRead } from "@engine/sources";
import type { NewVersions, Page, Store, StoredVersion, WorkflowFilter } from "@engine/store";
import type { EpochWatch } from "../auth/epoch-watch.ts";
import type { Domain } from "../domain.ts";
import type { HookDeclarations, HookRegistrar } from "../hooks/hook-declarations.ts";
import type { Bus } from "../replicas/bus.ts";
import type { ScheduleDeclarations } from "../schedules/schedule-declarations.ts";

type Port = Store["catalog"];

interface LoadedModule {
  readonly bundle: string;
  readonly ref: Assignment["module"];
  /** Of its workflows, as far as they were asked for: what an assignment says of affinity and routing. */
  readonly placements: Map<string, Assignment["placement"]>;
}

/** Whose code an execution runs. */
type Pinned = Pick<ExecutionRow, "namespace" | "workflow" | "module_hash">;
/** What an assignment says of the code. */
type Code = Pick<Assignment, "module" | "placement">;

interface Parts {
  readonly store: Store;
  readonly schedules: ScheduleDeclarations;
  readonly hooks: HookDeclarations;
  readonly read: ReadRegistration;
  /** Which of these secrets there are. */
  readonly knownSecrets: (names: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Whether what sensitive tasks take and give can be kept. */
  readonly canSeal: boolean;
  /** To the other servers on the store. */
  readonly bus?: Pick<Bus, "send" | "listen" | "isShared">;
  /** Tells of changes whose message was lost. */
  readonly epochs?: Pick<EpochWatch, "onChange">;
}

/** Bundles kept in memory; beyond them they are read from the store again. */
const LOADED_MODULES = 256;

/** The registered workflows: their versions, sources and bundles. */
export class Catalog implements Domain {
  readonly #parts: Parts;
  readonly #port: Port;
  /** Versions that were asked for: every start needs one. The latest are under the bare name. */
  readonly #versions = new Map<string, StoredVersion>();
  readonly #modules = new Map<string, LoadedModule>();
  /** Grows with every change of the catalog: a read that began before a change is not kept after it. */
  #changes = 0;
  readonly #listeners: (() => void)[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#port = parts.store.catalog;
    parts.epochs?.onChange("catalog", () => this.#forget());
    parts.bus?.listen(({ kind }) => {
      if (kind === "catalog") this.#forget();
    });
  }

  /** Calls back whenever what was read of the catalog may not hold any more. */
  onChange(then: () => void): void {
    this.#listeners.push(then);
  }

  /** Forgets what was read: the message of a change on another server may have been lost. */
  refresh(): void {
    if (this.#parts.bus?.isShared) this.#forget();
  }

  /** Registers the workflows of one file, all or none of them (EXE-59, EXE-64). */
  async register(
    registration: Registration,
    options: {
      readonly dryRun?: boolean | undefined;
      readonly by: string | null;
      /** Throws for workflows that the caller may not register. */
      readonly demand?: (workflows: readonly ExtractedWorkflow[]) => void | Promise<void>;
      /** What is written down of workflows that are registered. */
      readonly audit?: (workflows: readonly ExtractedWorkflow[]) => AuditEntry;
      /** Of the workflows: who registers them, as far as their hooks have to know. */
      readonly hooks?: (workflows: readonly ExtractedWorkflow[]) => HookRegistrar;
    },
  ): Promise<Registered> {
    const { issues, warnings, secrets, limits, ...read } = await this.#parts.read(registration);
    refuseIssues(issues);
    const declared = read.workflows.map(({ extracted }) => extracted);
    await options.demand?.(declared);
    if (!this.#parts.canSeal) refuseSensitive(declared);
    const versions: NewVersions = {
      ...read,
      created_by: options.by,
      schedules: this.#parts.schedules.declared(declared),
    };
    const { dryRun = false } = options;
    const audit = options.audit?.(declared);
    const registrar = options.hooks?.(declared);
    const items = await this.#parts.hooks.reconciling(
      declared,
      { registrar, dryRun },
      async (hooks) => {
        const registered = await this.#port.register({ ...versions, hooks }, { dryRun, audit });
        if (!dryRun) await this.#changed();
        return registered;
      },
    );
    const unknown = await Promise.all([
      this.#unknownSecrets(secrets),
      this.#undefinedLimits(limits),
    ]);
    return { items: [...items], warnings: [...warnings, ...unknown.flat()] };
  }

  /** Warnings for limits that no operator has set yet (FLW-3). */
  async #undefinedLimits(limits: RegistrationRead["limits"]): Promise<SourceIssue[]> {
    if (limits.length === 0) return [];
    const names = [...new Set(limits.map(({ name }) => name))];
    const known = new Set(await this.#parts.store.limits.defined(names));
    return limits.filter(({ name }) => !known.has(name)).map(({ warning }) => warning);
  }

  /** Warnings for secrets that do not exist yet (SEC-7). */
  async #unknownSecrets(secrets: RegistrationRead["secrets"]): Promise<SourceIssue[]> {
    if (secrets.length === 0) return [];
    const known = await this.#parts.knownSecrets([...new Set(secrets.map(({ name }) => name))]);
    return secrets.filter(({ name }) => !known.has(name)).map(({ warning }) => warning);
  }

  /** Deletes one version or all: new runs refuse them, executions pinned to them go on (EXE-70). */
  async delete(
    namespace: string,
    name: string,
    version?: number,
    audit?: AuditEntry,
  ): Promise<void> {
    const { afterDeletion } = this.#parts.schedules;
    const deleted = await this.#port.delete(namespace, name, version, afterDeletion, audit);
    await this.#changed();
    await this.#parts.hooks.changed();
    if (deleted.length === 0) throw await this.#unknown(namespace, name, version);
  }

  list(filter: WorkflowFilter): Promise<Page<WorkflowRecord>> {
    return this.#port.listWorkflows(filter);
  }

  namespaces(page: Parameters<Port["listNamespaces"]>[0]): ReturnType<Port["listNamespaces"]> {
    return this.#port.listNamespaces(page);
  }

  async get(namespace: string, name: string, version?: number): Promise<WorkflowRecord> {
    return (await this.resolve(namespace, name, version)).record;
  }

  async versions(
    namespace: string,
    name: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Page<WorkflowRecord>> {
    await this.resolve(namespace, name);
    return this.#port.listVersions(namespace, name, page);
  }

  readFiles({ namespace, name, version }: WorkflowRecord): Promise<readonly SourceFile[]> {
    return this.#port.readFiles(namespace, name, version);
  }

  /** The version a start is pinned to: the one asked for, or the latest. */
  async resolve(namespace: string, name: string, version?: number): Promise<StoredVersion> {
    const key = `${namespace}/${name}/${version ?? ""}`;
    const known = this.#versions.get(key);
    if (known) return known;
    const changes = this.#changes;
    const found = await this.#port.find(namespace, name, version);
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
    return this.#port.findOfModule(namespace, name, module_hash);
  }

  /** What an assignment says of the code it is to run, if that was read already. */
  loadedCode({ namespace, workflow, module_hash }: Pinned): Code | undefined {
    const { ref, placements } = this.#modules.get(module_hash ?? "") ?? {};
    const key = `${namespace}/${workflow}`;
    if (!ref || !placements?.has(key)) return undefined;
    return { module: ref, placement: placements.get(key) };
  }

  async loadCode({ namespace, workflow, module_hash }: Pinned): Promise<Code> {
    const { ref, placements } = await this.loadModule(module_hash);
    const version = await this.#port.findOfModule(namespace, workflow, ref.hash);
    const placement = version && placementDigest(version.record);
    placements.set(`${namespace}/${workflow}`, placement);
    return { module: ref, placement };
  }

  async loadModule(hash: string | null): Promise<LoadedModule> {
    const known = this.#modules.get(hash ?? "");
    if (known) return known;
    const bundle = hash === null ? undefined : await this.#port.readModule(hash);
    if (hash === null || bundle === undefined) throw notFound("module", `${hash}`);
    const ref = { hash, bytes: Buffer.byteLength(bundle) };
    const loaded: LoadedModule = { bundle, ref, placements: new Map() };
    if (this.#modules.size >= LOADED_MODULES) this.#modules.clear();
    this.#modules.set(hash, loaded);
    return loaded;
  }

  /** Settles once the other servers are told: the caller may start the workflow next on any of them. */
  async #changed(): Promise<void> {
    this.#forget();
    this.#parts.schedules.changed();
    await this.#parts.bus?.send({ kind: "catalog" });
  }

  /** Forgets which versions there are: workflows were registered or deleted. */
  #forget(): void {
    this.#changes++;
    this.#versions.clear();
    for (const then of this.#listeners) then();
  }

  async #unknown(namespace: string, name: string, version?: number): Promise<EngineError> {
    const workflow = `${namespace}/${name}`;
    const exists = version !== undefined && (await this.#port.find(namespace, name)) !== undefined;
    return exists
      ? notFound("version", `${version} of ${workflow}`)
      : notFound("workflow", workflow);
  }
}

/** By which a worker tells whether its bundle is what was registered (EXE-69). */
function placementDigest(record: WorkflowRecord): string | null {
  const text = placementText(record);
  return text === null ? null : createHash("sha256").update(text).digest("hex");
}

function refuseSensitive(workflows: readonly ExtractedWorkflow[]): void {
  for (const { namespace, name, tasks } of workflows) {
    const task = tasks.find(({ sensitive }) => sensitive);
    if (!task) continue;
    const message = `task ${task.name} of ${namespace}/${name} is sensitive, and without an encryption key nothing of it can be kept; set engine.security.encryption.key`;
    throw new EngineError("encryption_unavailable", message);
  }
}

/** Codes of what is wrong with one option only (AFF-8). */
const CODES: Readonly<Record<string, ErrorCode>> = {
  affinity: "invalid_affinity",
  routing: "invalid_routing",
  limits: "invalid_limits",
};

function refuseIssues(issues: readonly SourceIssue[]): void {
  const [first] = issues;
  if (!first) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  const options = new Set(issues.map(({ path }) => /^workflows\[\d+\]\.(\w+)/.exec(path)?.[1]));
  const [option = ""] = options;
  throw new EngineError(
    (options.size === 1 && Object.hasOwn(CODES, option) && CODES[option]) || "invalid_input",
    `${first.file}:${first.line}:${first.column} ${first.message}${more}`,
    { details: { issues } },
  );
}
