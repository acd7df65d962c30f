/**
 * The option `hooks` of a workflow: what its hooks must be, and what a record holds of them (HOOK-47). A
 * short selector is one of the workflow that declares it.
 */
import { type DeclaredHook, derivedHookName } from "../hooks/declared-hook.ts";
import {
  DEFAULT_HOOK_ATTEMPTS,
  HookName,
  HookPrincipal,
  MaxHookAttempts,
  MOST_HOOK_SELECTORS,
  TargetWorkflow,
} from "../hooks/hook.ts";
import type { Sha256 } from "../hooks/hook-ids.ts";
import { HOOK_NAME_RULE, RESERVED_HOOK_NAME } from "../hooks/hook-name.ts";
import { parseHookSelector } from "../hooks/selector.ts";
import { HOOK_DOMAINS } from "../hooks/vocabulary.ts";
import { NAME_RULE, nearest } from "../values/name.ts";
import { type Check, isPlainObject, OPAQUE, show } from "./option-checks.ts";

/** Whose hooks they are. */
export interface HookOwner {
  readonly namespace: string;
  readonly name: string;
}

/** One thing that is wrong with the option; `path` leads to it, such as `hooks[1].on[0]`. */
export interface HookIssue {
  path: string;
  rule: "unknown_option" | "invalid_option" | "invalid_selector";
  message: string;
}

export const hooks: Check = (value) => (Array.isArray(value) ? undefined : "a list of hooks");

interface Field {
  readonly isNeeded: boolean;
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
}

const FIELDS: Readonly<Record<string, Field>> = {
  on: {
    isNeeded: true,
    expected: `a selector, or a list of 1 to ${MOST_HOOK_SELECTORS} of them, such as "failed" or "charge:completed"`,
    fits: (value) => {
      if (!Array.isArray(value)) return typeof value === "string";
      const isEach = value.every((one) => typeof one === "string" || one === OPAQUE);
      return isEach && value.length >= 1 && value.length <= MOST_HOOK_SELECTORS;
    },
  },
  workflow: {
    isNeeded: true,
    expected: `<namespace>/<name> of a workflow, or a name alone for one of namespace default; each is ${NAME_RULE}`,
    fits: (value) => TargetWorkflow.safeParse(value).success,
  },
  principal: {
    isNeeded: true,
    expected:
      "the subject of the service account that runs the workflow: 1 to 256 letters, digits, '_', '.', '@' or '-'",
    fits: (value) => HookPrincipal.safeParse(value).success,
  },
  name: {
    isNeeded: false,
    expected: `${HOOK_NAME_RULE}, and not ${RESERVED_HOOK_NAME}`,
    fits: (value) => HookName.safeParse(value).success,
  },
  maxAttempts: {
    isNeeded: false,
    expected: "a whole number from 1 to 100",
    fits: (value) => MaxHookAttempts.safeParse(value).success,
  },
};

/**
 * Everything that is wrong with a list of hooks.
 *
 * @param owner Undefined where that could not be read: then nothing is said of whom selectors name.
 */
export function checkHooks(list: unknown, owner: HookOwner | undefined): HookIssue[] {
  if (!Array.isArray(list)) return [];
  const issues = list.flatMap((hook: unknown, index) => hookIssues(hook, `hooks[${index}]`, owner));
  return issues.length > 0 || !owner ? issues : twiceNamed(list, owner);
}

/** What a record holds of a list that nothing is wrong with: of equal hooks one (HOOK-49). */
export function declaredHooks(list: unknown, owner: HookOwner, sha256: Sha256): DeclaredHook[] {
  if (!Array.isArray(list)) return [];
  const declared = list.flatMap((hook: unknown) => {
    const read = isPlainObject(hook) && readHook(hook, owner);
    if (!read) return [];
    const name = read.name ?? derivedHookName(`${owner.namespace}/${owner.name}`, read, sha256);
    return [{ ...read, name }];
  });
  return declared.filter((hook, at) => !declared.slice(0, at).some((one) => isEqual(one, hook)));
}

function hookIssues(hook: unknown, path: string, owner: HookOwner | undefined): HookIssue[] {
  if (hook === OPAQUE) return [];
  if (!isPlainObject(hook)) {
    const expected = "an object with on, workflow and principal";
    const message = `option ${path} of workflow() must be ${expected}; got ${show(hook)}`;
    return [{ path, rule: "invalid_option", message }];
  }
  const unknown = Object.keys(hook).filter((key) => !Object.hasOwn(FIELDS, key));
  const wrong = Object.entries(FIELDS).flatMap(
    ([key, { isNeeded, expected, fits }]): HookIssue[] => {
      const value = hook[key];
      if (value === OPAQUE || (value === undefined && !isNeeded) || fits(value)) return [];
      const got = value === undefined ? "nothing" : show(value);
      const message = `option ${path}.${key} of workflow() must be ${expected}; got ${got}`;
      return [{ path: `${path}.${key}`, rule: "invalid_option", message }];
    },
  );
  return [
    ...unknown.map((key) => unknownField(path, key)),
    ...wrong,
    ...selectorIssues(hook["on"], `${path}.on`, owner),
  ];
}

function unknownField(path: string, key: string): HookIssue {
  const known = Object.keys(FIELDS);
  const near = nearest(key, known);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  const message = `option ${path} of workflow() has no option ${key}${hint} (it has ${known.join(", ")})`;
  return { path: `${path}.${key}`, rule: "unknown_option", message };
}

function selectorIssues(on: unknown, path: string, owner: HookOwner | undefined): HookIssue[] {
  if (Array.isArray(on)) {
    return on.flatMap((text: unknown, at) => selectorIssue(text, `${path}[${at}]`, owner));
  }
  return selectorIssue(on, path, owner);
}

function selectorIssue(text: unknown, path: string, owner: HookOwner | undefined): HookIssue[] {
  if (typeof text !== "string") return [];
  const { selector, refusal } = parseHookSelector(wholeSelector(text, owner ?? ANYBODY));
  const of = `option ${path} of workflow()`;
  if (refusal) {
    const message = `${of}: selector ${show(text)} can never fire: ${refusal.hint}`;
    return [{ path, rule: "invalid_selector", message }];
  }
  const [namespace, name] = selector.pattern;
  if (!owner || (namespace === owner.namespace && name === owner.name)) return [];
  const own = `${selector.domain}:${owner.namespace}:${owner.name}:`;
  const message = `${of}: selector ${show(text)} must be of the workflow that declares it, and begin with ${own}; write a hook of other workflows with npx engine hook create`;
  return [{ path, rule: "invalid_option", message }];
}

/** Stands where it could not be read who declares a hook: its name is right, whatever it is. */
const ANYBODY: HookOwner = { namespace: "any", name: "any" };

/**
 * A selector in full. One or two segments are a state or an event of a task, but two that begin as those
 * of any workflow do: `task:*` asks for the tasks of all, and is not read as a task of that name.
 */
function wholeSelector(text: string, { namespace, name }: HookOwner): string {
  const segments = text.split(":");
  const [first = ""] = segments;
  if (segments.length === 1) return `execution:${namespace}:${name}:${text}`;
  const isShort = segments.length === 2 && !(HOOK_DOMAINS as readonly string[]).includes(first);
  return isShort ? `task:${namespace}:${name}:${text}` : text;
}

type ReadHook = Omit<DeclaredHook, "name"> & { readonly name: string | undefined };

/** Undefined where a part of it could not be read. */
function readHook(hook: Readonly<Record<string, unknown>>, owner: HookOwner): ReadHook | undefined {
  const { on, name, maxAttempts = DEFAULT_HOOK_ATTEMPTS } = hook;
  const texts = (Array.isArray(on) ? on : [on]).map((text: unknown) =>
    typeof text === "string" ? wholeSelector(text, owner) : undefined,
  );
  const selectors = [...new Set(texts)].filter((text) => text !== undefined);
  const workflow = TargetWorkflow.safeParse(hook["workflow"]).data;
  const principal = HookPrincipal.safeParse(hook["principal"]).data;
  const max_attempts = MaxHookAttempts.safeParse(maxAttempts).data;
  if (texts.includes(undefined) || !workflow || !principal || max_attempts === undefined) return;
  const given = name === undefined ? undefined : HookName.safeParse(name).data;
  if (name !== undefined && given === undefined) return;
  return { name: given, selectors, workflow, principal, max_attempts };
}

/** Different hooks that would have one name: without one it follows from all but the tries. */
function twiceNamed(list: readonly unknown[], owner: HookOwner): HookIssue[] {
  const first = new Map<string, { readonly index: number; readonly hook: ReadHook }>();
  return list.flatMap((value, index): HookIssue[] => {
    const hook = isPlainObject(value) ? readHook(value, owner) : undefined;
    if (!hook) return [];
    const { name, selectors, workflow, principal } = hook;
    const key = name ?? JSON.stringify([selectors.toSorted(), workflow, principal]);
    const before = first.get(key);
    if (!before) first.set(key, { index, hook });
    if (!before || isEqual(before.hook, hook)) return [];
    const path = name === undefined ? `hooks[${index}]` : `hooks[${index}].name`;
    const what = name === undefined ? "differs from" : `is named ${name} as`;
    const message = `option ${path} of workflow(): the hook ${what} hooks[${before.index}]${
      name === undefined
        ? " in its tries only, by which no name is told apart; give one a name, or leave one out"
        : ", which is another one; rename one"
    }`;
    return [{ path, rule: "invalid_option", message }];
  });
}

/** Selectors are the same in any order. */
function isEqual(one: ReadHook, other: ReadHook): boolean {
  const text = ({ name, selectors, workflow, principal, max_attempts }: ReadHook) =>
    JSON.stringify([name, selectors.toSorted(), workflow, principal, max_attempts]);
  return text(one) === text(other);
}
