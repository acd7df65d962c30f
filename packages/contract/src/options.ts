import { Durability, Risk } from "./catalog.ts";
import { parseDuration } from "./duration.ts";
import { BUILT_IN_CALLS, isBuiltInCall, isName, NAME_RULE, nearest } from "./name.ts";
import { parseResourceAmount, RESOURCE_AMOUNT } from "./resource-amount.ts";
import { parsePackageRequest } from "./resource-requests.ts";
import { Runner } from "./runner.ts";
import { DeclaredSchedule } from "./schedule-declaration.ts";

/**
 * The options of `workflow()` and `task()` (EXE-4): the SDK checks them where they are written, the
 * server checks what it reads of them in the source, both by these tables.
 */

/** Stands for a value that was not evaluated, such as a function in a parsed file: it passes every check. */
export const OPAQUE: unique symbol = Symbol.for("engine.opaque");

export interface OptionIssue {
  /** The option, such as `retry.maxAttempts`; empty when it concerns the definition as a whole. */
  path: string;
  rule: "unknown_option" | "invalid_option" | "missing_name";
  message: string;
}

export type OptionOwner = "workflow" | "task";

/** What a value must be, in words that follow "must be", or undefined when it is. */
type Check = (value: unknown) => string | undefined;
interface OptionRule {
  check: Check;
  /** Registration reads its value from the source (EXE-62); the others may be any expression. */
  isStatic: boolean;
  /** Options inside this one. */
  inner?: OptionTable;
  /** Of an option inside that is none of them, when that is no unknown option but a wrong value. */
  innerRule?: OptionIssue["rule"];
}
type OptionTable = Readonly<Record<string, OptionRule>>;

const read = (check: Check): OptionRule => ({ check, isStatic: true });
const unread = (check: Check): OptionRule => ({ check, isStatic: false });

const name: Check = (value) =>
  typeof value === "string" && isName(value) ? undefined : `a name: ${NAME_RULE}`;
const text: Check = (value) => (typeof value === "string" ? undefined : "a string");
const fn: Check = (value) => (typeof value === "function" ? undefined : "a function");
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "true or false");
const duration: Check = (value) =>
  parseDuration(value) === undefined
    ? 'a duration: milliseconds from 0, or a number with ms, s, m, h or d such as "1.5s"'
    : undefined;
const span: Check = (value) =>
  (parseDuration(value) ?? 0) > 0
    ? undefined
    : 'a duration above 0: milliseconds, or a number with ms, s, m, h or d such as "1.5s"';
const mebibytes: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 16 ? undefined : "a whole number of MiB from 16";
const attempts: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1000
    ? undefined
    : "an integer from 1 to 1000";
const backoff: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 1 ? undefined : "a number from 1";
const options: Check = (value) => (isPlainObject(value) ? undefined : "an object of options");
const oneOf =
  (words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string)
      ? undefined
      : `one of ${words.map((word) => `"${word}"`).join(", ")}`;
const cache: Check = (value) =>
  typeof value === "boolean" || isPlainObject(value)
    ? undefined
    : "true, false or an object of options";
/** Names under which secrets and configs are kept. */
const STORED_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$/;
const storedNames: Check = (value) => {
  const expected =
    "a list of names, each 1 to 128 letters, digits, '_', '.', '@' or '-', beginning with a letter, a digit or '_'";
  if (!Array.isArray(value)) return expected;
  const wrong = value.findIndex(
    (each) => each !== OPAQUE && !(typeof each === "string" && STORED_NAME.test(each)),
  );
  return wrong < 0 ? undefined : `${expected}, without ${show(value[wrong])} at [${wrong}]`;
};
/** Taken by the engine: `storage_type` tells whose a stored value is. */
const ENGINE_STORAGES: readonly unknown[] = ["engine", "inline", "file", "s3"];
const outputStorage: Check = (value) => {
  if (value === "engine" || value === "inline") return undefined;
  const { type, store, retrieve } = (value ?? {}) as Record<string, unknown>;
  const isStorage =
    typeof type === "string" &&
    type !== "" &&
    typeof store === "function" &&
    typeof retrieve === "function";
  if (!isStorage) {
    return '"engine", "inline" or a storage with a text type and the functions store and retrieve';
  }
  return ENGINE_STORAGES.includes(type)
    ? `a storage of another type: ${type} is the engine's own`
    : undefined;
};
const standardSchema: Check = (value) =>
  (typeof value === "object" || typeof value === "function") &&
  value !== null &&
  "~standard" in value
    ? undefined
    : "a Standard Schema, such as one of zod";
const schedule: Check = (value) =>
  DeclaredSchedule.safeParse(value).success
    ? undefined
    : "what cron(), interval() or once() returns";
const cores: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) && value > 0
    ? undefined
    : "a number of cores above 0";
const devices: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 1
    ? undefined
    : "a whole number of devices from 1";
const bytes: Check = (value) =>
  parseResourceAmount(value) === undefined ? RESOURCE_AMOUNT : undefined;
const packages: Check = (value) => {
  const expected = 'a list of packages, each a name or name@<semver range> such as "sharp@^0.33"';
  if (!Array.isArray(value)) return expected;
  const wrong = value.findIndex(
    (each) => each !== OPAQUE && !(typeof each === "string" && parsePackageRequest(each)),
  );
  return wrong < 0 ? undefined : `${expected}, without ${show(value[wrong])} at [${wrong}]`;
};
const jsonObject: Check = (value) => {
  if (!isPlainObject(value)) return "an object of JSON values";
  const wrong = notJson(value, "", new Set());
  return wrong === undefined ? undefined : `an object of JSON values, without ${wrong}`;
};

const shared = {
  name: read(name),
  description: read(text),
  input: unread(standardSchema),
  output: unread(standardSchema),
  metadata: read(jsonObject),
  secrets: read(storedNames),
  configs: read(storedNames),
  outputStorage: unread(outputStorage),
};

const taskRequests: OptionTable = { cpu: read(cores), memory: read(bytes), gpu: read(devices) };
const workflowRequests: OptionTable = {
  ...taskRequests,
  disk: read(bytes),
  packages: read(packages),
};
/** RES-1: whatever else stands there is a wrong value. */
const requests = (inner: OptionTable): OptionRule => ({
  check: options,
  isStatic: true,
  inner,
  innerRule: "invalid_option",
});

const TABLES: Readonly<Record<OptionOwner, OptionTable>> = {
  workflow: {
    ...shared,
    namespace: read(name),
    timeout: read(span),
    durability: read(oneOf(Durability.options)),
    runner: read(oneOf(Runner.options)),
    runnerOptions: { check: options, isStatic: true, inner: { memoryMb: read(mebibytes) } },
    requests: requests(workflowRequests),
    schedule: read(schedule),
  },
  task: {
    ...shared,
    timeout: read(duration),
    retry: {
      check: options,
      isStatic: true,
      inner: {
        maxAttempts: read(attempts),
        delay: read(duration),
        backoff: read(backoff),
        maxDelay: read(duration),
        retryIf: unread(fn),
      },
    },
    fallback: unread(fn),
    rollback: unread(fn),
    cache: {
      check: cache,
      isStatic: true,
      inner: { ttl: read(span), key: unread(fn), version: read(text) },
    },
    requests: requests(taskRequests),
    sensitive: read(flag),
    authExempt: read(flag),
    risk: read(oneOf(Risk.options)),
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
 * @param original Those of the task that is copied: what is not replaced still holds.
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

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The first part that JSON cannot hold, such as `a function at hooks[0]`. */
function notJson(value: unknown, path: string, above: Set<unknown>): string | undefined {
  if (value === null || value === OPAQUE) return undefined;
  if (typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number" && Number.isFinite(value)) return undefined;
  const at = path === "" ? "" : ` at ${path}`;
  if (!Array.isArray(value) && !isPlainObject(value)) return `${show(value)}${at}`;
  if (above.has(value)) return `a circle${at}`;
  above.add(value);
  for (const [key, part] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    const wrong = notJson(part, place, above);
    if (wrong !== undefined) return wrong;
  }
  above.delete(value);
  return undefined;
}

function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}
