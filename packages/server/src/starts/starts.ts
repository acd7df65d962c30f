import {
  EngineError,
  type ExecutionRow,
  type HookLineage,
  type NewExecution,
  pathsOfFairness,
  pathsOfLimits,
  pathsRead,
  peek,
  type Requirements,
  referenceOf,
  resolveFairness,
  resolveLimits,
  resolvePlacement,
} from "@engine/contract";
import { LargeJson } from "@engine/http/json";
import type { Changed } from "@engine/store";
import type { Catalog } from "../catalog/catalog.ts";
import { checkInput } from "../catalog/input/input-check.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { refuseMismatch, requestHash } from "../executions/idempotency.ts";
import type { InputCheck } from "../executions/input-thread.ts";
import type { Kept, LargeInputs } from "../executions/large-inputs.ts";
import { LINEAGE_PATHS } from "../hooks/lineages.ts";
import { isRefusal } from "../refusal.ts";
import { foundVersion } from "./found-version.ts";
import { limitedExecution } from "./limited-execution.ts";
import { limitedBy, type Placed, placedBy, sharedBy } from "./placed.ts";
import type { FoundVersion, NamedWorkflow, Start, StartKey } from "./start.ts";
import { hiddenPlacement, storedRouting } from "./stored-routing.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "config" | "clock" | "ids" | "seed" | "ring">;
  readonly catalog: Pick<Catalog, "resolve">;
  readonly inputs: LargeInputs;
  /** Writes an execution; with a free worker the same commit gives it to that worker. */
  readonly create: (fresh: NewExecution) => Promise<Changed>;
}

/**
 * Creates every execution, for callers, schedules, calls and forks alike. They say what they want; which
 * checks are made, in which order, and which defaults hold, is decided here.
 */
export class Starts {
  readonly #parts: Parts;
  readonly #ports: Parts["ports"];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ports = parts.ports;
  }

  /** Creates an execution. With a key that is known nothing is created: `existing` says so. */
  async start(start: Start): Promise<Changed> {
    const holder = start.key && (await this.#holderOf(start.key, start));
    if (holder) {
      const recorded_at = this.#ports.clock();
      return { row: holder, events: [], recorded_at, others: [], existing: true };
    }
    const fresh = await this.prepareStart(start);
    const { execution_id, input, unique } = fresh;
    const changed = await this.#orForget(execution_id, input, () => this.#parts.create(fresh));
    if (!changed.existing) return changed;
    if (referenceOf(input)) await this.#parts.inputs.forget(execution_id);
    if (unique) refuseMismatch(unique.request_hash, changed.row);
    return changed;
  }

  /** Checks a start, for a commit that holds more than the creation of the execution. */
  async prepareStart(start: Start): Promise<NewExecution> {
    const { execution_id = this.#ports.ids() } = start;
    const of = "pin" in start.of ? start.of : await this.#find(start.of);
    const kept = await this.#kept(execution_id, start, of);
    const checks = () => this.#checked(execution_id, start, { of, kept });
    return this.#orForget(execution_id, kept.input, checks);
  }

  async #checked(
    execution_id: string,
    start: Start,
    { of, kept }: { readonly of: FoundVersion; readonly kept: Kept },
  ): Promise<NewExecution> {
    const { ports } = this.#parts;
    const { trigger, label, start_at, seed, schedule, parent, fork, key, delivery } = start;
    const { input, request_hash = key?.request_hash } = kept;
    const placed = this.#placed(of, kept, start.routing_input);
    // Each of these is usually known at once, and every start would pay for waiting.
    const required = this.#requirements(sharing(placed.requirements, start), start);
    const requirements = required instanceof Promise ? await required : required;
    const routing_input = storedRouting(ports.ring, start.routing_input);
    const account = typeof start.by === "function" ? await start.by() : start.by;
    const lineage = lineageFor(start, kept);
    return {
      ...of.pin,
      requirements,
      unplaceable: placed.failure ?? of.unplaceable ?? null,
      routing_input,
      by: account,
      hook: lineage instanceof Promise ? await lineage : lineage,
      execution_id,
      name: label ?? null,
      input,
      trigger,
      priority: start.priority ?? of.priority ?? undefined,
      unique: key && request_hash !== undefined ? { key: key.text, request_hash } : undefined,
      schedule,
      parent,
      fork,
      delivery,
      not_before: start_at ?? null,
      park_ttl_ms: this.#parkTtlMs(start.park_ttl),
      preferred_worker: start.last_worker ?? null,
      seed: seed ?? ports.seed(),
      now: ports.clock(),
    };
  }

  /** Refuses what a later start would be refused for, but for its account. */
  async check(start: Pick<Start, "of" | "root"> & Pick<NewExecution, "input">): Promise<void> {
    const { schema } = "pin" in start.of ? start.of : await this.#find(start.of);
    await checkInput(schema, start.input, start.root);
  }

  /** The execution under the key, whatever became of its workflow, its schema or its worker since. */
  async #holderOf(
    { text, request_hash }: StartKey,
    start: Start,
  ): Promise<ExecutionRow | undefined> {
    const holder = await this.#ports.store.executions.findByKey(text);
    if (holder) refuseMismatch(request_hash ?? (await this.#hashOf(start)), holder);
    return holder;
  }

  async #find({ namespace, workflow, version }: NamedWorkflow): Promise<FoundVersion> {
    const found = await this.#parts.catalog.resolve(namespace, workflow, version ?? undefined);
    return foundVersion(found);
  }

  #hashOf({ input, of }: Start): Promise<string> | string {
    if (input instanceof LargeJson) return this.#parts.inputs.hashOf(input, versionOf(of));
    return requestHash(input, versionOf(of));
  }

  /** Checks an input; one that came as a large body is kept outside of the row. */
  async #kept(
    execution_id: string,
    { input, root, key, of, hook }: Start,
    { schema, declared }: Pick<FoundVersion, "schema" | "declared">,
  ): Promise<Kept> {
    const { inputs } = this.#parts;
    const isHashed = key !== undefined && key.request_hash === undefined;
    const paths = [
      ...(declared ? pathsRead(declared) : []),
      ...(declared ? pathsOfLimits(declared.limits) : []),
      ...(declared ? pathsOfFairness(declared.fairness) : []),
      ...(typeof hook === "function" ? LINEAGE_PATHS : []),
    ];
    const check: InputCheck = {
      schema,
      root,
      ...(isHashed && { hashedWith: versionOf(of) }),
      ...(paths.length > 0 && { paths }),
    };
    if (input instanceof LargeJson) return inputs.keep(execution_id, input, check);
    const reference = referenceOf(input);
    // A stored input is deleted with its execution, so each execution has a copy of its own.
    if (reference) return inputs.copy(execution_id, reference, check);
    await checkInput(schema, input, root);
    return { input, request_hash: isHashed ? requestHash(input, versionOf(of)) : undefined };
  }

  /** What it needs of a worker, by what it was started with (DSP-2). */
  #placed(
    { pin, declared }: Pick<FoundVersion, "pin" | "declared">,
    { input, picked }: Kept,
    routing_input: Start["routing_input"] = {},
  ): Placed {
    if (!declared) return { requirements: pin.requirements };
    const { ring } = this.#ports;
    const inputs = { input: picked ?? peek(input), routing_input };
    const resolved = resolvePlacement(declared, inputs);
    const placed = placedBy(pin.requirements, resolved, (hidden) => hiddenPlacement(ring, hidden));
    const of = limitedExecution(pin, inputs, ring);
    const limited = limitedBy(placed, resolveLimits(declared.limits, of));
    return sharedBy(limited, resolveFairness(declared.fairness, of));
  }

  /** Deletes a kept input again where the execution is refused. */
  #orForget<Done>(
    execution_id: string,
    input: NewExecution["input"],
    then: () => Promise<Done>,
  ): Promise<Done> {
    return referenceOf(input) ? this.#thenOrForget(execution_id, then) : then();
  }

  async #thenOrForget<Done>(execution_id: string, then: () => Promise<Done>): Promise<Done> {
    try {
      return await then();
    } catch (error) {
      if (isRefusal(error)) await this.#parts.inputs.forget(execution_id);
      throw error;
    }
  }

  /** A required name that never registered is a mistake; one that is offline is waited for (DSP-7). */
  #requirements(
    of: Requirements | null,
    { required_worker: worker, preferred_worker: prefers }: Start,
  ): Requirements | null | Promise<Requirements> {
    if (worker !== undefined) return this.#onlyOn(worker, of);
    return prefers === undefined ? of : { ...of, prefers };
  }

  async #onlyOn(worker: string, of: Requirements | null): Promise<Requirements> {
    if (await this.#ports.store.workers.find(worker)) return { ...of, worker };
    throw new EngineError("unknown_worker", `no worker ${worker} has ever registered`);
  }

  #parkTtlMs(seconds: number = this.#ports.config.workers.park_ttl): number | null {
    return seconds === 0 ? null : seconds * 1000;
  }
}

function lineageFor(
  { hook = null }: Pick<Start, "hook">,
  { input, picked }: Kept,
): HookLineage | null | Promise<HookLineage | null> {
  return typeof hook === "function" ? hook(picked ?? peek(input)) : hook;
}

/** The version that was asked for. */
function versionOf(of: Start["of"]): number | null {
  return ("pin" in of ? of.pin.version : of.version) ?? null;
}

/** With whom it takes turns, where its own workflow does not say. */
function sharing(
  requirements: Requirements | null,
  { fairness }: Pick<Start, "fairness">,
): Requirements | null {
  return fairness && !requirements?.fairness ? { ...requirements, fairness } : requirements;
}
