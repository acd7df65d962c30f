import {
  type DeadReason,
  EngineError,
  type ErrorCode,
  type ExtractedWorkflow,
  type HookProblem,
  parseWorkflowName,
} from "@engine/contract";
import type { HookRow, StoredIdentity, StoredVersion } from "@engine/store";
import { type Accounts, lackingAccount } from "../auth/accounts.ts";
import { RunLists, type RunVersion, toRun } from "../auth/run-lists.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { FreshCatalog } from "./fresh-catalog.ts";
import { SharedReads } from "./shared-reads.ts";
import { UploadedCatalog } from "./uploaded-catalog.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "config">;
  readonly accounts: Pick<Accounts, "areChecked" | "find">;
}

/** What a hook runs, and as whom. */
export type HookTarget = Pick<HookRow, "principal" | "workflow">;

/** Why a target cannot be run: the same words for a refusal, a dead delivery and a hook's status. */
export type TargetProblemCode = HookProblem & DeadReason & ErrorCode;

/** A refusal that says so, or what a delivery dies of: `code`, `message` and `details`. */
export type TargetProblem = EngineError & { readonly code: TargetProblemCode };

/** What a target comes to: the version that runs, and whose rights it has. */
export interface RunnableTarget {
  readonly version: StoredVersion;
  /** Id of the principal; null with authorization off. */
  readonly run_as: string | null;
}

export type Verdict =
  | { readonly target: RunnableTarget; readonly problem?: undefined }
  | { readonly target?: undefined; readonly problem: TargetProblem };

/** An account that can be used; undefined with authorization off, when none is looked at (HOOK-46). */
type AccountVerdict =
  | { readonly account: StoredIdentity | undefined; readonly problem?: undefined }
  | { readonly account?: undefined; readonly problem: TargetProblem };

/**
 * Says whether a hook's target can be run as its account. Account, roles and catalog are read anew each
 * time (HOOK-44): nobody's memory decides in whose name something runs.
 */
export class TargetJudge {
  readonly #parts: Parts;
  readonly #catalog: FreshCatalog;
  /** Of accounts: the tries of a batch ask for the same ones. */
  readonly #reads = new SharedReads();
  readonly #runLists: Pick<RunLists, "ofRecord">;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#catalog = new FreshCatalog(parts.ports);
    this.#runLists = new RunLists({ ports: parts.ports, catalog: this.#catalog });
  }

  /**
   * For somebody who writes or tests a hook: the account's right to run comes before whether the target
   * exists, which only those learn who may run it (HOOK-42, step 4).
   */
  async forRequest(hook: HookTarget): Promise<Verdict> {
    const { account, problem } = await this.#named(hook);
    if (problem) return { problem };
    const version = await this.#find(hook);
    if (!version) return { problem: unregistered(hook) };
    return this.#permitted(account, version);
  }

  /** The same for a registration, whose workflows count as registered (HOOK-50). */
  async forUpload(
    hook: HookTarget,
    uploaded: readonly ExtractedWorkflow[],
  ): Promise<TargetProblem | undefined> {
    const { account, problem } = await this.#named(hook);
    if (problem) return problem;
    const catalog = new UploadedCatalog(uploaded, this.#catalog);
    const version = await catalog.find(...namesIn(hook));
    if (!version) return unregistered(hook);
    const runLists = new RunLists({ ports: this.#parts.ports, catalog });
    return barredFrom(account, version, runLists);
  }

  /** For a try of a delivery (HOOK-29, rows 5 to 7): it tells all that is missing to whoever reads it. */
  async forDelivery(hook: HookTarget): Promise<Verdict> {
    const { account, problem } = await this.#account(hook);
    if (problem) return { problem };
    const version = await this.#find(hook);
    if (!version) return { problem: unregistered(hook) };
    return this.#permitted(account, version);
  }

  /** All that would stop a delivery now, in the order of its codes (HOOK-2). */
  async problems(hook: HookTarget): Promise<readonly TargetProblemCode[]> {
    const version = await this.#find(hook);
    const missing = version ? undefined : unregistered(hook);
    const { account, problem: unusable } = await this.#account(hook);
    const barred = account && lackIn(account, await this.#needed(hook, version));
    return [missing, unusable, barred].flatMap((problem) => problem?.code ?? []);
  }

  /** An account that may run a workflow of that name, whether or not there is one. */
  async #named(hook: HookTarget): Promise<AccountVerdict> {
    const { account, problem } = await this.#account(hook);
    if (problem) return { problem };
    const barred = account && lackIn(account, [toRun(...namesIn(hook))]);
    return barred ? { problem: barred } : { account };
  }

  async #account({ principal }: HookTarget): Promise<AccountVerdict> {
    const { accounts } = this.#parts;
    if (!accounts.areChecked) return { account: undefined };
    try {
      return { account: await this.#reads.share(principal, () => accounts.find(principal)) };
    } catch (error) {
      if (isProblem(error)) return { problem: error };
      throw error;
    }
  }

  #find(hook: HookTarget): Promise<StoredVersion | undefined> {
    return this.#catalog.find(...namesIn(hook));
  }

  /** All that running takes; of a workflow that nobody knows the right to run it. */
  async #needed(hook: HookTarget, version: StoredVersion | undefined): Promise<readonly string[]> {
    if (!version) return [toRun(...namesIn(hook))];
    return this.#runLists.ofRecord(version.record, version.module_hash);
  }

  async #permitted(account: StoredIdentity | undefined, version: StoredVersion): Promise<Verdict> {
    const barred = await barredFrom(account, version, this.#runLists);
    return barred ? { problem: barred } : { target: { version, run_as: account?.id ?? null } };
  }
}

const CODES: ReadonlySet<ErrorCode> = new Set<TargetProblemCode>([
  "target_not_found",
  "principal_not_found",
  "principal_not_service_account",
  "principal_banned",
  "principal_disabled",
  "principal_not_permitted",
]);

/** Whether an error is about the account or the target; any other says nothing about either. */
function isProblem(error: unknown): error is TargetProblem {
  return error instanceof EngineError && CODES.has(error.code);
}

function problem(error: EngineError): TargetProblem {
  if (isProblem(error)) return error;
  throw error;
}

function lackIn(account: StoredIdentity, needed: readonly string[]): TargetProblem | undefined {
  const lacking = lackingAccount(account, needed);
  return lacking && problem(lacking);
}

async function barredFrom(
  account: StoredIdentity | undefined,
  { record, module_hash }: RunVersion,
  runLists: Pick<RunLists, "ofRecord">,
): Promise<TargetProblem | undefined> {
  return account && lackIn(account, await runLists.ofRecord(record, module_hash));
}

function unregistered({ workflow }: HookTarget): TargetProblem {
  const message = `no workflow ${workflow} is registered, which the hook is to run`;
  return problem(new EngineError("target_not_found", message, { details: { workflow } }));
}

function namesIn({ workflow }: HookTarget): readonly [namespace: string, name: string] {
  const parsed = parseWorkflowName(workflow);
  // Nothing else is ever stored; what a database was made to say names no workflow.
  return parsed ? [parsed.namespace, parsed.name] : ["", workflow];
}
