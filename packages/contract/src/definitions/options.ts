/**
 * The options of `workflow()` and `task()` (EXE-4): the SDK checks them where they are written, the
 * server checks what it reads of them in the source, both by these tables.
 */

import {
  BUILT_IN_CALLS,
  DEFAULT_NAMESPACE,
  isBuiltInCall,
  isName,
  NAME_RULE,
  nearest,
} from "../values/name.ts";
import { Durability, Risk } from "./catalog.ts";
import { checkHooks, type HookOwner, hooks } from "./hook-options.ts";
import * as checks from "./option-checks.ts";
import { isPlainObject, OPAQUE, show } from "./option-checks.ts";
import type { PartProblem } from "./placement-options.ts";
import * as placement from "./placement-options.ts";
import { Runner } from "./runner.ts";

/** One thing that is wrong with the options of a definition. */
export interface OptionIssue {
  /** The option, such as `retry.maxAttempts`; empty when it concerns the definition as a whole. */
  path: string;
  rule: "unknown_option" | "invalid_option" | "invalid_selector" | "missing_name";
  message: string;
}

/** Whose options they are: those of `workflow()` or of `task()`. */
export type OptionOwner = "workflow" | "task";

interface OptionRule {
  /** What a value must be. */
  check: checks.Check;
  /** Registration reads its value from the source (EXE-62); the others may be any expression. */
  isStatic: boolean;
  /** What is wrong with its parts; asked when the check has nothing to say. */
  parts?: (value: unknown) => readonly PartProblem[];
  /** Options inside this one. */
  inner?: OptionTable;
  /** Of an option inside that is none of them, when that is no unknown option but a wrong value. */
  innerRule?: OptionIssue["rule"];
}
type OptionTable = Readonly<Record<string, OptionRule>>;

const read = (check: checks.Check): OptionRule => ({ check, isStatic: true });
const unread = (check: checks.Check): OptionRule => ({ check, isStatic: false });

const shared = {
  name: read(checks.name),
  description: read(checks.text),
  input: unread(checks.standardSchema),
  output: unread(checks.standardSchema),
  metadata: read(checks.jsonObject),
  secrets: read(checks.storedNames),
  configs: read(checks.storedNames),
  outputStorage: unread(checks.outputStorage),
};

const taskRequests: OptionTable = {
  cpu: read(checks.cores),
  memory: read(checks.bytes),
  gpu: read(checks.devices),
};
const workflowRequests: OptionTable = {
  ...taskRequests,
  disk: read(checks.bytes),
  packages: read(checks.packages),
};
const group = (inner: OptionTable): OptionRule => ({ ...read(checks.options), inner });
/** RES-1: an unknown key of `requests`, or a wrong value, is an invalid option. */
const requests = (inner: OptionTable): OptionRule => ({
  ...group(inner),
  innerRule: "invalid_option",
});

const TABLES: Readonly<Record<OptionOwner, OptionTable>> = {
  workflow: {
    ...shared,
    namespace: read(checks.name),
    timeout: read(checks.span),
    durability: read(checks.oneOf(Durability.options)),
    runner: read(checks.oneOf(Runner.options)),
    runnerOptions: group({ memoryMb: read(checks.mebibytes) }),
    requests: requests(workflowRequests),
    schedule: read(checks.schedule),
    // Of its members more is to be said than a table can: `checkHooks`.
    hooks: read(hooks),
    affinity: { ...read(placement.affinity), parts: placement.affinityParts },
    routing: { ...read(placement.routing), parts: placement.routingParts },
    limits: { ...read(placement.limits), parts: placement.limitParts },
    priority: read(placement.priority),
    fairness: {
      ...read(placement.fairness),
      inner: { key: read(placement.fairnessKey), weight: read(placement.fairnessWeight) },
    },
  },
  task: {
    ...shared,
    timeout: read(checks.span),
    retry: group({
      maxAttempts: read(checks.attempts),
      delay: read(checks.duration),
      backoff: read(checks.backoff),
      maxDelay: read(checks.span),
      retryIf: unread(checks.fn),
    }),
    fallback: unread(checks.fn),
    rollback: unread(checks.fn),
    cache: {
      ...read(checks.cache),
      inner: { ttl: read(checks.span), key: unread(checks.fn), version: read(checks.text) },
    },
    requests: requests(taskRequests),
    sensitive: read(checks.flag),
    authExempt: read(checks.flag),
    risk: read(checks.oneOf(Risk.options)),
  },
};

/** Every wrong option of `workflow(options, body)`; `functionName` names it when `options.name` does not. */
export function checkWorkflowOptions(
  options: Readonly<Record<string, unknown>>,
  functionName?: string,
): OptionIssue[] {
  return [
    ...checkTable("workflow", options),
    ...checkRunner(options),
    ...checkHooks(options["hooks"], ownerIn(options, functionName)),
    ...checkName("workflow", options, functionName),
  ];
}

/** Every wrong option of `task(options, fn)`. */
export function checkTaskOptions(
  options: Readonly<Record<string, unknown>>,
  functionName?: string,
): OptionIssue[] {
  return [
    ...checkTable("task", options),
    ...checkTogether(options),
    ...checkName("task", options, functionName),
  ];
}

/**
 * Every wrong option of `task.with(options)`, which keeps the name.
 *
 * @param original The options of the task that is copied: an option that is not replaced still holds.
 */
export function checkTaskCopyOptions(
  options: Readonly<Record<string, unknown>>,
  original: Readonly<Record<string, unknown>> = {},
): OptionIssue[] {
  const issues = [
    ...checkTable("task", { ...options, name: undefined }),
    ...checkTogether({ ...original, ...options }),
  ];
  if (options["name"] === undefined) return issues;
  const message = "a copy keeps the name of its task: leave out name, or write another task()";
  return [{ path: "name", rule: "invalid_option", message }, ...issues];
}

/** Whether registration must read the option at this path from the source; unknown ones it need not. */
export function isStaticOption(owner: OptionOwner, path: readonly string[]): boolean {
  let table: OptionTable | undefined = TABLES[owner];
  for (const key of path) {
    // Below an option without a table everything belongs to its value.
    if (table === undefined) return true;
    const rule: OptionRule | undefined = ruleOf(table, key);
    if (rule === undefined || !rule.isStatic) return false;
    table = rule.inner;
  }
  return true;
}

function checkTable(owner: OptionOwner, values: Readonly<Record<string, unknown>>): OptionIssue[] {
  const issues: OptionIssue[] = [];
  visit(TABLES[owner], values, "");
  return issues;

  function visit(
    table: OptionTable,
    options: Readonly<Record<string, unknown>>,
    prefix: string,
    unknownRule: OptionIssue["rule"] = "unknown_option",
  ): void {
    for (const [key, value] of Object.entries(options)) {
      const path = prefix + key;
      const rule = ruleOf(table, key);
      if (rule === undefined) {
        issues.push({ path, rule: unknownRule, message: unknownOption(table, path, key) });
        continue;
      }
      if (value === undefined || value === OPAQUE) continue;
      const expected = rule.check(value);
      if (expected !== undefined) {
        const message = `option ${path} of ${owner}() must be ${expected}; got ${show(value)}`;
        issues.push({ path, rule: "invalid_option", message });
      } else if (rule.inner && isPlainObject(value)) {
        visit(rule.inner, value, `${path}.`, rule.innerRule);
      }
      if (expected !== undefined) continue;
      for (const { at, problem } of rule.parts?.(value) ?? []) {
        const message = `option ${path}${at} of ${owner}(): ${problem}`;
        issues.push({ path: path + at, rule: "invalid_option", message });
      }
    }
  }

  function unknownOption(table: OptionTable, path: string, key: string): string {
    const near = nearest(key, Object.keys(table));
    const place = path.slice(0, Math.max(0, path.length - key.length - 1));
    const owned = place === "" ? `${owner}()` : `option ${place} of ${owner}()`;
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    return `${owned} has no option ${key}${hint} (it has ${Object.keys(table).join(", ")})`;
  }
}

/** Options of a task that exclude each other. */
function checkTogether({ cache, sensitive }: Readonly<Record<string, unknown>>): OptionIssue[] {
  const caches = cache === true || isPlainObject(cache);
  if (!caches || sensitive !== true) return [];
  const message =
    "options cache and sensitive of task() exclude each other, since a cache would hand the sensitive output to other executions; leave one out";
  return [{ path: "cache", rule: "invalid_option", message }];
}

/** Only a process has memory of its own to limit (RUN-2). */
function checkRunner({ runner, runnerOptions }: Readonly<Record<string, unknown>>): OptionIssue[] {
  const isLimited = isPlainObject(runnerOptions) && runnerOptions["memoryMb"] !== undefined;
  if (!isLimited || runner === "process" || runner === OPAQUE) return [];
  const path = "runnerOptions.memoryMb";
  const message = `option ${path} of workflow() needs runner: "process", since other runners share their memory; got ${runner === undefined ? "no runner" : `runner: ${show(runner)}`}`;
  return [{ path, rule: "invalid_option", message }];
}

/** Which workflow has these options; undefined where its name is wrong or not known here. */
function ownerIn(
  { name: given, namespace = DEFAULT_NAMESPACE }: Readonly<Record<string, unknown>>,
  functionName: string | undefined,
): HookOwner | undefined {
  const name = given === undefined ? functionName : given;
  if (typeof name !== "string" || typeof namespace !== "string") return undefined;
  return isName(name) && isName(namespace) ? { namespace, name } : undefined;
}

function checkName(
  owner: OptionOwner,
  options: Readonly<Record<string, unknown>>,
  functionName: string | undefined,
): OptionIssue[] {
  const given = options["name"];
  if (given === OPAQUE) return [];
  const own = given === undefined ? functionName : given;
  if (own === undefined || (given === undefined && own === "")) {
    const message = `a ${owner} needs a name: give the option name, or pass a named function`;
    return [{ path: "", rule: "missing_name", message }];
  }
  if (typeof own !== "string") return [];
  if (given === undefined && !isName(own)) {
    const message = `the function's name ${own} cannot name a ${owner}: give the option name, ${NAME_RULE}`;
    return [{ path: "name", rule: "invalid_option", message }];
  }
  if (owner === "task" && isBuiltInCall(own)) {
    const message = `a task cannot be named ${own}; taken by built-in calls: ${BUILT_IN_CALLS.join(", ")}`;
    return [{ path: "name", rule: "invalid_option", message }];
  }
  return [];
}

function ruleOf(table: OptionTable, key: string): OptionRule | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
