import {
  type AuditEntry,
  type DeliveryQuery,
  type DeliveryRetry,
  EngineError,
  type ExtractedWorkflow,
  type HookProblem,
  type HookQuery,
  type HookTest,
  type HookUpdate,
  type NewHook,
  notFound,
  parseUtcInstant,
  type RetriedDeliveries,
  type TestedHook,
} from "@engine/contract";
import type { DeliveryRow, FullDelivery, HookChange, HookRow, Page } from "@engine/store";
import type { AuditedCall } from "../auth/audit-entry.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { hookEntry } from "./hook-audit.ts";
import type { NeededHook } from "./hook-declarations.ts";
import type { HookState } from "./hook-record.ts";
import { changesIn, impersonated } from "./impersonation.ts";
import { legalSelectors } from "./legal-selectors.ts";
import type { HookTarget, RunnableTarget, TargetJudge } from "./target-judge.ts";
import type { TestFires } from "./test-fires.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "config" | "clock" | "ids">;
  readonly judge: Pick<TargetJudge, "forRequest" | "forUpload" | "problems">;
  readonly tests: TestFires;
  /** Called when a hook was written, before that is answered: events from then on go by it (HOOK-12). */
  readonly changed: () => void | Promise<void>;
  /** Called when deliveries were handed back to the drain. */
  readonly retried: () => void;
}

/** Who asks for something. */
export interface AskedFor {
  readonly call: AuditedCall;
  /**
   * Throws unless the caller may be this account (HOOK-40); null: none is used. Asked once the hook and
   * its selectors are right, before anybody looks at the account or the target (HOOK-42).
   */
  readonly allow: (principal: string | null) => void;
}

/** What callers do with hooks and their deliveries. */
export class Hooks {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws EngineError `invalid_selector`, `principal_…`, `target_not_found`, `hook_exists`. */
  async create(fields: NewHook, { allow, call }: AskedFor): Promise<HookRow> {
    const { ports } = this.#parts;
    const selectors = legalSelectors(fields.selectors);
    allow(fields.principal);
    await this.#runnable(fields);
    const hook = { ...fields, selectors, id: ports.ids(), created_by: subjectOf(call) };
    const row = await ports.store.hooks.create(
      { ...hook, owner_type: "user", owner_ref: null },
      this.#entry(call, fields.name, fields.principal),
    );
    await this.#parts.changed();
    return row;
  }

  list({ limit, offset, ...filter }: HookQuery): Promise<Page<HookRow>> {
    return this.#parts.ports.store.hooks.list({ ...filter, limit, offset });
  }

  /** A hook with what became of its deliveries, and what would stop the next one (HOOK-2). */
  async state(name: string): Promise<HookState> {
    const { ports, judge } = this.#parts;
    const row = await this.#find(name);
    const counts = await ports.store.hooks.status(row.id);
    const problems: HookProblem[] = [
      ...(ports.config.hooks.enabled ? [] : (["hooks_disabled"] as const)),
      ...(row.enabled ? [] : (["hook_disabled"] as const)),
      ...(await judge.problems(row)),
    ];
    return { row, problems, ...counts };
  }

  /**
   * What was checked and what is written hold together: where somebody else wrote meanwhile, all is
   * checked anew (HOOK-37).
   *
   * @throws EngineError `not_found`, `hook_is_declared`, `invalid_selector`, `principal_…`,
   * `target_not_found`.
   */
  async update(name: string, sent: HookUpdate, { allow, call }: AskedFor): Promise<HookRow> {
    const { ports } = this.#parts;
    const by = subjectOf(call);
    for (;;) {
      const row = await this.#find(name);
      const changes = changesIn(row, sent as HookChange);
      refuseDeclared(row, changes);
      const change = withLegal(changes);
      const used = impersonated(row, change);
      allow(used);
      if (Object.keys(change).length === 0) return row;
      if (used !== null) await this.#runnable({ ...row, ...change });
      const at = { hook_id: row.id, revision: row.revision, by };
      const entry = this.#entry(call, name, used);
      const written = await ports.store.hooks.change(name, change, at, entry);
      if (written === undefined) throw notFound("hook", name);
      if (written === "stale") continue;
      await this.#parts.changed();
      return written;
    }
  }

  /**
   * Deletes a hook with its deliveries; executions that it has started go on (HOOK-4).
   *
   * @returns How many deliveries were waiting.
   * @throws EngineError `not_found`, `hook_is_declared`.
   */
  async delete(name: string, call: AuditedCall): Promise<number> {
    refuseDeclared(await this.#find(name));
    const dropped = await this.#parts.ports.store.hooks.delete(name, this.#entry(call, name));
    if (dropped === undefined) throw notFound("hook", name);
    await this.#parts.changed();
    return dropped;
  }

  /**
   * Starts the target once, with an envelope as an event would have made it, whether or not the hook is
   * enabled (HOOK-37).
   *
   * @throws EngineError `not_found`, `invalid_selector`, `principal_…`, `target_not_found`;
   * `invalid_input` where the target's schema refuses the envelope.
   */
  async test(name: string, asked: HookTest, { allow, call }: AskedFor): Promise<TestedHook> {
    const { ports, tests } = this.#parts;
    const row = await this.#find(name);
    const selector = tests.selectorOf(row, asked);
    const { principal: used } = row;
    allow(used);
    const target = await this.#runnable(row);
    // Written before the start: nothing runs as an account that nobody could read of (AUD-2).
    const note = () => ports.store.audit.add(this.#entry(call, name, used));
    return tests.fire({ row, target, selector, value: asked.value, note });
  }

  /**
   * Whether hooks that a registration declares could run what they name (HOOK-50).
   *
   * @param uploaded The workflows of the registration, which count as registered.
   * @throws EngineError `principal_…`, `target_not_found` of the first that could not.
   */
  async assertRunnable(
    declared: readonly NeededHook["hook"][],
    uploaded: readonly ExtractedWorkflow[],
  ): Promise<void> {
    const judged = new Set<string>();
    for (const hook of declared) {
      const pair = `${hook.principal} ${hook.workflow}`;
      if (judged.has(pair)) continue;
      judged.add(pair);
      const problem = await this.#parts.judge.forUpload(hook, uploaded);
      if (!problem) continue;
      const { code, message, details } = problem;
      throw new EngineError(code, `hook ${hook.name}: ${message}`, {
        cause: problem,
        ...(details && { details }),
      });
    }
  }

  /** Newest first. @throws EngineError `not_found`. */
  async deliveries(name: string, query: DeliveryQuery): Promise<Page<DeliveryRow>> {
    const { id } = await this.#find(name);
    return this.#parts.ports.store.deliveries.list(id, query);
  }

  /** One of another hook is not there (HOOK-38). @throws EngineError `not_found`. */
  async delivery(name: string, delivery_id: string): Promise<FullDelivery> {
    const { id } = await this.#find(name);
    const found = await this.#parts.ports.store.deliveries.find(id, delivery_id);
    if (!found) throw notFound("delivery", delivery_id);
    return found;
  }

  /**
   * Hands a delivery that was given up back to the drain, which judges it anew (HOOK-37).
   *
   * @throws EngineError `not_found`, `delivery_not_dead`.
   */
  async retry(name: string, delivery_id: string, { allow, call }: AskedFor): Promise<DeliveryRow> {
    const { id, principal: used } = await this.#find(name);
    allow(used);
    const entry = this.#entry(call, name, used);
    const retried = await this.#parts.ports.store.deliveries.retry(id, delivery_id, entry);
    if (retried === undefined) throw notFound("delivery", delivery_id);
    if (typeof retried === "string") throw notDead(delivery_id, retried);
    this.#parts.retried();
    return retried;
  }

  /** The same with many, oldest first. @throws EngineError `not_found`. */
  async retryMany(
    name: string,
    { settled_before, limit, dead_reason }: DeliveryRetry,
    { allow, call }: AskedFor,
  ): Promise<RetriedDeliveries> {
    const { ports } = this.#parts;
    const { id, principal: used } = await this.#find(name);
    allow(used);
    const before = settled_before === undefined ? ports.clock() : parseUtcInstant(settled_before);
    const filter = { dead_reason, settled_before: before, limit };
    const entry = this.#entry(call, name, used);
    const retried = await ports.store.deliveries.retryMany(id, filter, entry);
    if (retried.retried > 0) this.#parts.retried();
    return retried;
  }

  /** @throws EngineError `not_found`. */
  async #find(name: string): Promise<HookRow> {
    const row = await this.#parts.ports.store.hooks.find(name);
    if (!row) throw notFound("hook", name);
    return row;
  }

  /** Step 4 of HOOK-42, made again for each request and at each fire. */
  async #runnable(hook: HookTarget): Promise<RunnableTarget> {
    const { target, problem } = await this.#parts.judge.forRequest(hook);
    if (problem) throw problem;
    return target;
  }

  #entry(call: AuditedCall, target: string, used: string | null = null): AuditEntry {
    return hookEntry(call, { target, used }, this.#parts.ports);
  }
}

/** Null with authorization off. */
function subjectOf({ caller }: AuditedCall): string | null {
  return caller.identity?.subject ?? null;
}

function withLegal(changes: HookChange): HookChange {
  const { selectors } = changes;
  return selectors ? { ...changes, selectors: legalSelectors(selectors) } : changes;
}

/**
 * What a workflow or an agent declares is changed there. Whether the hook is enabled is the operator's
 * matter (HOOK-50).
 *
 * @param changes Undefined: it is to be deleted.
 */
function refuseDeclared({ name, owner_type, owner_ref }: HookRow, changes?: HookChange): void {
  if (owner_type === "user") return;
  if (changes && Object.keys(changes).every((field) => field === "enabled")) return;
  const what = changes ? "changed" : "deleted";
  const message = `hook ${name} is declared by ${owner_type} ${owner_ref} and cannot be ${what} here, only enabled or disabled: change its hooks there`;
  throw new EngineError("hook_is_declared", message, { details: { owner_type, owner_ref } });
}

function notDead(delivery_id: string, status: DeliveryRow["status"]): EngineError {
  const message = `delivery ${delivery_id} is ${status}; only one that was given up is tried anew`;
  return new EngineError("delivery_not_dead", message, { details: { status } });
}
