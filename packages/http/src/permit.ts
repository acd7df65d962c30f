/**
 * The two steps in which a row's permission is decided: by the path, then by what a handler found.
 */
import { EngineError, type Permission, type Route } from "@engine/contract";
import type { Rights, Seen } from "./authorize.ts";

/** Values for placeholders that the path does not fill; null where there is nothing to guard. */
export type Subject = Readonly<Record<string, string | null>>;

/** The part of a row's permission that its path leaves to the handler. */
export interface Owed {
  readonly permission: Permission;
  readonly placeholders: readonly string[];
  /** Permissions that filter what is listed. */
  readonly scopes: readonly string[];
}

export function owedBy({ permission, path }: Pick<Route, "permission" | "path">): Owed {
  const inPath = new Set(placeholdersOf(path));
  const placeholders = new Set<string>();
  const scopes: string[] = [];
  for (const leaf of leavesOf(permission)) {
    if (leaf.kind === "scoped") scopes.push(leaf.grant);
    else
      for (const name of placeholdersOf(textOf(leaf)))
        if (!inPath.has(name)) placeholders.add(name);
  }
  return { permission, placeholders: [...placeholders], scopes };
}

/** What one request has been allowed so far. */
export class Permit {
  readonly #owed: Owed;
  readonly #params: Subject;
  readonly #rights: Rights | undefined;
  /** Scopes that the handler has not asked for yet. */
  readonly #unasked: Set<string>;
  #isDemanded: boolean;

  constructor(owed: Owed, params: Subject, rights: Rights | undefined) {
    this.#owed = owed;
    this.#params = params;
    this.#rights = rights;
    this.#unasked = new Set(owed.scopes);
    this.#isDemanded = owed.placeholders.length === 0;
    this.#judge({});
  }

  /** Whether everything that the row needs has been asked for: nothing is answered before. */
  get isSettled(): boolean {
    return this.#isDemanded && this.#unasked.size === 0;
  }

  /** @throws EngineError `permission_denied` naming what is missing for any of the subjects. */
  demand(...subjects: readonly Subject[]): void {
    for (const subject of subjects) {
      const unfilled = this.#owed.placeholders.find((name) => subject[name] === undefined);
      if (unfilled !== undefined) throw new Error(`a demand leaves {${unfilled}} open`);
      this.#judge(subject);
    }
    this.#isDemanded = true;
  }

  /**
   * Demands for a subject that has to be looked up; callers who may do everything cost no lookup.
   */
  async demandOf(find: () => Promise<Subject>): Promise<void> {
    if (this.#rights) this.demand(await find());
    this.#isDemanded = true;
  }

  /**
   * What the caller may see in a list, by the row's scoped permission of a kind such as `workflow`;
   * undefined is everything.
   */
  seen(kind: string): readonly Seen[] | undefined {
    const scope = this.#owed.scopes.find((text) => text.startsWith(`${kind}:`));
    if (scope === undefined)
      throw new Error(`no scoped permission of the row begins with ${kind}:`);
    this.#unasked.delete(scope);
    const seen = this.#rights?.seenBy(scope);
    return seen?.some((one) => Object.keys(one).length === 0) ? undefined : seen;
  }

  #judge(subject: Subject): void {
    if (!this.#rights) return;
    const values = { ...subject, ...this.#params };
    const missing = missingOf(this.#owed.permission, values, this.#rights);
    if (missing !== undefined && missing.length > 0) throw denied(missing);
  }
}

/**
 * For rows that their path decides, asked by callers who may do everything: nothing is left open.
 */
const SETTLED = new Permit(
  { permission: { kind: "open" }, placeholders: [], scopes: [] },
  {},
  undefined,
);

/** @throws EngineError `permission_denied` for what the path alone forbids (AUTH-5). */
export function permitOf(owed: Owed, params: Subject, rights: Rights | undefined): Permit {
  const isSettled = !rights && owed.placeholders.length === 0 && owed.scopes.length === 0;
  return isSettled ? SETTLED : new Permit(owed, params, rights);
}

/** The permissions that are missing, in the row's order; undefined while a placeholder decides. */
function missingOf(
  permission: Permission,
  values: Subject,
  rights: Rights,
): readonly string[] | undefined {
  switch (permission.kind) {
    // `authorize` has settled who asks.
    case "open":
    case "identity":
    case "worker":
      return [];
    case "grant":
    case "run": {
      const needed = filled(textOf(permission), values);
      if (needed === undefined) return undefined;
      return needed === null || rights.holds(needed) ? [] : [needed];
    }
    case "scoped":
      return rights.seenBy(permission.grant).length > 0 ? [] : [anyOf(permission.grant)];
    case "all": {
      const each = permission.of.map((one) => missingOf(one, values, rights));
      const missing = each.flatMap((one) => one ?? []);
      return missing.length === 0 && each.includes(undefined) ? undefined : missing;
    }
    case "any": {
      const each = permission.of.map((one) => missingOf(one, values, rights));
      if (each.some((one) => one?.length === 0)) return [];
      return each.includes(undefined) ? undefined : each.flatMap((one) => one ?? []);
    }
  }
}

type Leaf = Exclude<Permission, { kind: "all" | "any" }>;

function leavesOf(permission: Permission): readonly Leaf[] {
  if (permission.kind === "all" || permission.kind === "any")
    return permission.of.flatMap(leavesOf);
  return [permission];
}

/** A leaf as the text of a grant that would satisfy it. */
function textOf(leaf: Leaf): string {
  if (leaf.kind === "run") return `workflow:${leaf.workflow.replace("/", ":")}:run`;
  return "grant" in leaf ? leaf.grant : "";
}

function placeholdersOf(text: string): readonly string[] {
  return Array.from(text.matchAll(/\{(\w+)\}/g), ([, name]) => name ?? "");
}

/**
 * The text with its values; undefined while one is unknown, null where there is nothing to guard.
 */
function filled(text: string, values: Subject): string | null | undefined {
  const names = placeholdersOf(text);
  if (names.some((name) => values[name] === undefined)) return undefined;
  if (names.some((name) => values[name] === null)) return null;
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}

/** The form that a caller lacks who sees nothing by a scoped permission (AUTH-33). */
function anyOf(grant: string): string {
  return grant.replace(/\{\w+\}/g, "*");
}

function denied(missing_permissions: readonly string[]): EngineError {
  const message = `the caller lacks ${missing_permissions.join(", ")}`;
  return new EngineError("permission_denied", message, { details: { missing_permissions } });
}
