import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { decode, type ExecutionRow, hookExecutionId } from "@engine/contract";
import type { FullDelivery, HookRow } from "@engine/store";
import type { Commit, Evidence, ExecutionAtRest } from "../evidence.ts";
import { type HookWrites, hookStates, hooksById, rowsOf } from "./known-hooks.ts";
import { storedForm } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** What is asked for of every delivery and execution. */
interface Known {
  readonly evidence: Evidence;
  readonly hooks: ReadonlyMap<string, HookWrites>;
  readonly executions: ReadonlyMap<string, ExecutionAtRest>;
  readonly deliveries: ReadonlyMap<string, FullDelivery>;
  /** Of executions, by their ids. */
  readonly creations: ReadonlyMap<string, readonly Commit[]>;
}

/**
 * I18 and I19: a delivery starts one execution, or says why it does not; nothing is left when the engine is
 * at rest, and nothing waits where nothing is broken. Hops grow by one, and whatever an execution starts has the same hook behind it.
 */
export function hookStarts(evidence: Evidence): readonly Violation[] {
  const { executions, deliveries, commits } = evidence;
  const created = commits.filter(({ events }) =>
    events.some(({ type, seq }) => seq === 1 && type === "WORKFLOW_CREATED"),
  );
  const known: Known = {
    evidence,
    hooks: hooksById(evidence),
    executions: new Map(executions.map((one) => [one.row.execution_id, one])),
    deliveries: new Map(deliveries.map((one) => [one.id, one])),
    creations: Map.groupBy(created, ({ execution_id }) => execution_id),
  };
  return [
    ...deliveries.flatMap((delivery) => settled(delivery, known)),
    ...executions.flatMap((execution) => started(execution, known)),
    ...twice(executions),
  ];
}

/** Longer than all that is committed at once takes where nothing is broken, one after the other. */
const AT_ONCE_MS = 3_000;
/** As far as the clocks of stores are wrong. */
const CLOCKS_MS = 1_000;

function settled(delivery: FullDelivery, known: Known): readonly Violation[] {
  const byStatus = { pending: wrongPending, delivered: wrongDelivered, dead: wrongDead };
  const wrong = byStatus[delivery.status](delivery, known) ?? late(delivery, known.evidence);
  if (wrong === undefined) return [];
  const { id, hook, hop, execution_id, source_execution_id } = delivery;
  const message = `delivery ${id} to hook ${hook} at hop ${hop} ${wrong}`;
  return [{ invariant: "I19", execution_id: execution_id ?? source_execution_id, message }];
}

function wrongPending({ attempts, next_attempt_at }: FullDelivery): string {
  return `is pending after ${attempts} tries, the next at ${next_attempt_at}, when all is at rest`;
}

/** With more tries than one it has waited, and so it may have where somebody has handed it back. */
function late(
  { attempts, created_at, settled_at }: FullDelivery,
  { drains_at_once, calm_at, handed_back_at }: Evidence,
): string | undefined {
  const since = Math.max(calm_at, handed_back_at ?? calm_at) + CLOCKS_MS;
  const took = (settled_at ?? created_at) - created_at;
  if (!drains_at_once || attempts > 1 || created_at < since || took <= AT_ONCE_MS) return undefined;
  return `took ${took} ms, when nothing was broken any more`;
}

function wrongDelivered(delivery: FullDelivery, known: Known): string | undefined {
  const { evidence, executions, creations, hooks } = known;
  const { id, hook_id, hop, attempts, execution_id, envelope } = delivery;
  const derived = derivedOf(id);
  if (execution_id !== derived) return `has started ${execution_id}, which is to be ${derived}`;
  if (hop >= evidence.hop_limit)
    return `has started something, and the limit is ${evidence.hop_limit}`;
  const creation = creations.get(derived) ?? [];
  if (creation.length !== 1) return `has started something ${creation.length} times`;
  const states = hookStates(creation[0] as Commit, hooks.get(hook_id) ?? []);
  const row = creation[0]?.row as ExecutionRow;
  if (!states.some((state) => state && mayStart(state, row, evidence))) {
    return `has started ${row.namespace}/${row.workflow} as ${row.run_as}, which its hook did not want any more`;
  }
  const most = Math.max(
    ...rowsOf(hooks.get(hook_id) ?? []).map(({ max_attempts }) => max_attempts),
  );
  if (attempts < 1 || attempts > most) return `says that it took ${attempts} tries of ${most}`;
  const target = executions.get(derived);
  // Retention may have deleted it.
  if (!target)
    return isDeleted(derived, evidence) ? undefined : `has started ${derived}, which is not there`;
  const given = decode(storedForm(target.row.input, evidence));
  const meant = { ...JSON.parse(envelope), attempt: attempts };
  return isDeepStrictEqual(given, meant)
    ? undefined
    : `has started it with ${JSON.stringify(given)}`;
}

function mayStart(hook: HookRow, row: ExecutionRow, { accounts }: Evidence): boolean {
  const runs_as = accounts.find(({ subject }) => subject === hook.principal)?.id ?? null;
  return (
    hook.enabled && hook.workflow === `${row.namespace}/${row.workflow}` && row.run_as === runs_as
  );
}

function isDeleted(execution_id: string, { deletions }: Evidence): boolean {
  return deletions.some((deletion) => deletion.execution_id === execution_id);
}

function wrongDead(delivery: FullDelivery, known: Known): string | undefined {
  const { id, dead_reason, attempts, error } = delivery;
  if (known.creations.has(derivedOf(id)))
    return `is dead of ${dead_reason}, and has started ${derivedOf(id)}`;
  if (mayDieOf(delivery, known)) return undefined;
  return `is dead of ${dead_reason} after ${attempts} tries, of which it cannot be: ${error}`;
}

function mayDieOf(
  { dead_reason, hook_id, hop, attempts }: FullDelivery,
  { evidence, hooks }: Known,
): boolean {
  const states = rowsOf(hooks.get(hook_id) ?? []);
  const { principals, hop_limit } = evidence;
  switch (dead_reason) {
    case "hook_disabled":
      return states.some(({ enabled }) => !enabled);
    case "hop_limit":
      return hop >= hop_limit;
    case "principal_banned":
      return principals.some(({ banned }) => banned);
    case "principal_disabled":
      return principals.some(({ enabled }) => !enabled);
    case "principal_not_permitted":
      return principals.some(({ has_role }) => !has_role);
    case "target_not_found":
      return states.some(({ workflow }) => !workflow.startsWith("default/"));
    case "attempts_exhausted":
      return states.some(({ max_attempts }) => attempts >= max_attempts);
    default:
      return false;
  }
}

function started(execution: ExecutionAtRest, known: Known): readonly Violation[] {
  const wrong = wrongLineage(execution, known);
  if (wrong === undefined) return [];
  return [{ invariant: "I19", execution_id: execution.row.execution_id, message: wrong }];
}

function wrongLineage(execution: ExecutionAtRest, known: Known): string | undefined {
  const { row, log } = execution;
  const origin = row.parent_id ?? row.forked_from?.execution_id;
  if (origin !== undefined) return wrongBehind(row, known.executions.get(origin)?.row);
  return isStartedByHook(log) ? wrongStart(row, known) : wrongHandedOn(row, known);
}

/** Whatever an execution starts, and every fork of it, has the same hook behind it. */
function wrongBehind(row: ExecutionRow, of: ExecutionRow | undefined): string | undefined {
  // Retention may have deleted it.
  if (!of || isDeepStrictEqual(of.hook, row.hook)) return undefined;
  return `it has ${shown(row.hook)} behind it, and ${of.execution_id}, from which it comes, ${shown(of.hook)}`;
}

function wrongStart({ hook, execution_id }: ExecutionRow, known: Known): string | undefined {
  const { hop_limit } = known.evidence;
  if (!hook?.delivery_id) return "a hook has started it, and there is none behind it";
  const { delivery_id, hop, name } = hook;
  if (delivery_id.startsWith(OF_TESTS)) {
    return hop === 0 ? undefined : `a test has started it at hop ${hop}`;
  }
  const derived = derivedOf(delivery_id);
  if (execution_id !== derived) return `${shown(hook)} has started it, and is to start ${derived}`;
  if (hop >= hop_limit) return `it is at hop ${hop}, and the limit is ${hop_limit}`;
  const delivery = known.deliveries.get(delivery_id);
  if (!delivery) {
    if (wasDeleted(name, known)) return undefined;
    return `there is no delivery ${delivery_id}, which has started it`;
  }
  const { status } = delivery;
  if (status === "delivered" && delivery.hop === hop && delivery.hook === name) return undefined;
  return `it has ${shown(hook)} behind it, and the delivery is ${status} at hop ${delivery.hop}`;
}

/**
 * Whoever hands on what a target was started with goes on with its chain: anybody with authorization off,
 * otherwise the one as whom that ran.
 */
function wrongHandedOn(row: ExecutionRow, known: Known): string | undefined {
  const { hook, input, started_by } = row;
  const { accounts } = known.evidence;
  const { delivery_id, hop, hook: name } = given(input, known);
  const said = typeof delivery_id === "string" ? { name, delivery_id, hop } : null;
  const target = said && known.executions.get(derivedOf(said.delivery_id))?.row;
  const isTheirs = accounts.length === 0 || target?.run_as === started_by;
  const meant = isTheirs ? said : null;
  if (isDeepStrictEqual(hook, meant)) return undefined;
  // By then nobody knew any more what was delivered.
  if (hook === null && accounts.length > 0 && wasDeleted(name, known)) return undefined;
  return `no hook has started it, and it has ${shown(hook)} behind it`;
}

function given(
  input: ExecutionRow["input"],
  { evidence }: Known,
): Readonly<Record<string, unknown>> {
  return (decode(storedForm(input, evidence)) ?? {}) as Readonly<Record<string, unknown>>;
}

/** Whether a hook of that name was deleted, with all that it had delivered. */
function wasDeleted(name: unknown, { evidence }: Known): boolean {
  return evidence.hooks.some((hook) => hook.name === name && hook.row === null);
}

/** So begin the ids of what tests say that they deliver. */
const OF_TESTS = "hook-test-";

function isStartedByHook([first]: ExecutionAtRest["log"]): boolean {
  if (!first) return false;
  const { trigger } = decode(first.event.value) as { readonly trigger?: { readonly kind: string } };
  return trigger?.kind === "hook";
}

/** Deliveries that have started several executions. */
function twice(executions: readonly ExecutionAtRest[]): readonly Violation[] {
  const own = executions.filter(
    ({ row, log }) => row.parent_id === null && row.forked_from === null && isStartedByHook(log),
  );
  const byDelivery = Map.groupBy(own, ({ row }) => row.hook?.delivery_id);
  return [...byDelivery].flatMap(([delivery_id, [first, ...others]]) =>
    others.map(({ row: { execution_id } }): Violation => {
      const message = `it and ${first?.row.execution_id} were both started by delivery ${delivery_id}`;
      return { invariant: "I19", execution_id, message };
    }),
  );
}

function derivedOf(delivery_id: string): string {
  return hookExecutionId(delivery_id, (text) => hash("sha256", text));
}

function shown(hook: ExecutionRow["hook"]): string {
  return hook ? `delivery ${hook.delivery_id} of hook ${hook.name} at hop ${hook.hop}` : "no hook";
}
