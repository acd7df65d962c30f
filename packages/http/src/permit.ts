/**
 * The two steps in which a row's permission is decided: by the path and the headers, then by what a
 * handler found.
 */
import { EngineError, type Permission, type Rights, type Route, type Seen } from "@engine/contract";

/** Values for placeholders that the path does not fill; null where there is nothing to guard. */
export type Subject = Readonly<Record<string, string | null>>;

/** The part of a row's permission that its path leaves to the handler. */
export interface Owed {
  readonly permission: Permission;
  readonly placeholders: readonly string[];
  /** Permissions that filter what is listed. */
  readonly scopes: readonly string[];
  /** Headers that take a permission of their own, in lower case. */
  readonly headers: readonly string[];
  /** The workflow whose running takes a whole list of permissions, as `{ns}/{wf}` (AUTH-31). */
  readonly run: string | undefined;
}

export function owedBy({ permission, path }: Pick<Route, "permission" | "path">): Owed {
  const inPath = new Set(placeholdersOf(path));
  const placeholders = new Set<string>();
  const scopes: string[] = [];
  const headers: string[] = [];
  let run: string | undefined;
  for (const leaf of leavesOf(permission)) {
    if (leaf.kind === "run") run = leaf.workflow;
    if (leaf.kind === "scoped") scopes.push(leaf.grant);
    else if (leaf.kind === "when") headers.push(leaf.header.toLowerCase());
    else if (leaf.kind === "own") placeholders.add(OWN);
    else
      for (const name of placeholdersOf(textOf(leaf)))
        if (!inPath.has(name)) placeholders.add(name);
  }
  return { permission, placeholders: [...placeholders], scopes, headers, run };
}

/** The name under which a demand says whether the execution is the caller's own: then it is null. */
const OWN = "own";

const NO_SCOPES: Set<string> = new Set();
const NO_SUBJECT: readonly Subject[] = [{}];
const NOTHING: readonly string[] = [];

/** What one request has been allowed so far. */
export class Permit {
  readonly #owed: Owed;
  readonly #params: Subject;
  #rights: Rights | undefined;
  /** Scopes that the handler has not asked for yet. */
  readonly #unasked: Set<string>;
  #isDemanded: boolean;
  #isRunDemanded: boolean;
  /** What was demanded, to be demanded again of an answer that goes on for long (AUTH-58). */
  #subjects: readonly Subject[] = NO_SUBJECT;
  #needed: readonly string[] = NOTHING;

  constructor(owed: Owed, params: Subject, rights: Rights | undefined) {
    this.#owed = owed;
    this.#params = params;
    this.#rights = rights;
    this.#unasked = owed.scopes.length === 0 ? NO_SCOPES : new Set(owed.scopes);
    this.#isDemanded = owed.placeholders.length === 0;
    this.#isRunDemanded = owed.run === undefined;
    this.#judge({});
  }

  /** Whether everything that the row needs has been asked for: nothing is answered before. */
  get isSettled(): boolean {
    return this.#isDemanded && this.#isRunDemanded && this.#unasked.size === 0;
  }

  /** @throws EngineError `permission_denied` naming what is missing for any of the subjects. */
  demand(...subjects: readonly Subject[]): void {
    const refused: Judged[] = [];
    for (const subject of subjects) {
      const unfilled = this.#owed.placeholders.find((name) => subject[name] === undefined);
      if (unfilled !== undefined) throw new Error(`a demand leaves {${unfilled}} open`);
      const judged = this.#rights && this.#judged(subject, this.#rights);
      if (judged && !judged.isHeld) refused.push(judged);
    }
    // What is missing of all of them is one refusal (AUTH-10).
    if (refused.length > 0) throw denied([...new Set(refused.flatMap(({ missing }) => missing))]);
    if (this.#rights) this.#subjects = [...this.#subjects, ...subjects];
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
   * Demands all that running a workflow takes, for the version that will run (AUTH-31). Callers who
   * may do everything cost no lookup.
   *
   * @throws EngineError `permission_denied` naming everything of the list that is missing.
   */
  async demandRun(find: () => readonly string[] | Promise<readonly string[]>): Promise<void> {
    if (this.#rights) {
      const needed = await find();
      refuseMissing(needed, this.#rights);
      this.#needed = [...this.#needed, ...needed];
    }
    this.#isRunDemanded = true;
  }

  /**
   * Demands both for a workflow that the path does not name. What is missing of the row and of the list
   * is one refusal, which names the tasks only to callers who know the workflow (AUTH-10).
   *
   * @throws EngineError `permission_denied`, and what `find` throws.
   */
  async demandToRun(
    subject: Subject,
    find: () => readonly string[] | Promise<readonly string[]>,
  ): Promise<void> {
    const rights = this.#rights;
    if (rights && this.#judged(subject, rights)?.isHeld === false && this.#isKnown(subject, rights))
      throw denied(this.#judged(subject, rights, await find())?.missing ?? NOTHING);
    this.demand(subject);
    await this.demandRun(find);
  }

  /**
   * What the caller may see in a list, by the row's scoped permissions of a kind such as `workflow`;
   * undefined is everything.
   */
  seen(kind: string): readonly Seen[] | undefined {
    const scopes = this.#owed.scopes.filter((text) => text.startsWith(`${kind}:`));
    if (scopes.length === 0)
      throw new Error(`no scoped permission of the row begins with ${kind}:`);
    for (const scope of scopes) this.#unasked.delete(scope);
    const rights = this.#rights;
    const seen = rights && scopes.flatMap((scope) => rights.seenBy(scope));
    return seen?.some((one) => Object.keys(one).length === 0) ? undefined : seen;
  }

  /**
   * Judges all that was demanded again, by what the caller holds by now (AUTH-58).
   *
   * @throws EngineError `permission_denied`.
   */
  again(rights: Rights | undefined): void {
    if (!rights || rights === this.#rights) return;
    this.#rights = rights;
    for (const subject of this.#subjects) this.#judge(subject);
    refuseMissing(this.#needed, rights);
  }

  #judge(subject: Subject): void {
    if (!this.#rights) return;
    const judged = this.#judged(subject, this.#rights);
    if (judged && !judged.isHeld) throw denied(judged.missing);
  }

  #judged(subject: Subject, rights: Rights, list?: readonly string[]): Judged | undefined {
    return judge(this.#owed.permission, { ...subject, ...this.#params }, { rights, list });
  }

  #isKnown(subject: Subject, rights: Rights): boolean {
    const workflow = filled(this.#owed.run ?? "", { ...subject, ...this.#params });
    return isKnown(workflow, rights);
  }
}

/** Whether the caller may read or run the workflow: then a refusal names its tasks (AUTH-10). */
export function isKnown(workflow: string | null | undefined, rights: Rights): workflow is string {
  if (!workflow) return false;
  const prefix = `workflow:${workflow.replace("/", ":")}`;
  return rights.holds(`${prefix}:read`) || rights.holds(`${prefix}:run`);
}

/** Of requests that anybody may make and that demand nothing: they share one. */
const SETTLED = new Permit(
  { permission: { kind: "open" }, placeholders: [], scopes: [], headers: [], run: undefined },
  {},
  undefined,
);

/**
 * @param params Of the path.
 * @param headers As received.
 * @throws EngineError `permission_denied` for what path and headers alone forbid (AUTH-5).
 */
export function permitOf(
  owed: Owed,
  params: Subject,
  headers: Headers,
  rights: Rights | undefined,
): Permit {
  const owes = owed.placeholders.length > 0 || owed.scopes.length > 0 || owed.run !== undefined;
  if (!rights && !owes) return SETTLED;
  return new Permit(owed, subjectIn(owed, params, headers), rights);
}

/**
 * What path and headers alone forbid, where it is known what running takes: all of it, in the row's
 * order (AUTH-10).
 */
export function missingOf(
  owed: Owed,
  { params, headers }: { readonly params: Subject; readonly headers: Headers },
  { rights, list }: Held,
): readonly string[] {
  return judge(owed.permission, subjectIn(owed, params, headers), { rights, list })?.missing ?? [];
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function subjectIn({ headers: names }: Owed, params: Subject, headers: Headers): Subject {
  if (names.length === 0) return params;
  const sent = names.map((name) => [inHeader(name), headers[name]?.toString() ?? null]);
  return { ...params, ...Object.fromEntries(sent) };
}

/** No name in a path or a subject looks like this. */
function inHeader(name: string): string {
  return `header ${name}`;
}

interface Judged {
  readonly isHeld: boolean;
  /** The permissions that are missing, in the row's order. */
  readonly missing: readonly string[];
}

const HELD: Judged = { isHeld: true, missing: [] };

/** What a caller holds, and all that running the workflow takes where that is to be told. */
interface Held {
  readonly rights: Rights;
  readonly list?: readonly string[] | undefined;
}

/** Undefined while a placeholder decides. */
function judge(permission: Permission, values: Subject, held: Held): Judged | undefined {
  const { rights, list } = held;
  switch (permission.kind) {
    // `authorize` has settled who asks.
    case "open":
    case "identity":
    case "worker":
      return HELD;
    case "own":
      if (values[OWN] === undefined) return undefined;
      return values[OWN] === null ? HELD : { isHeld: false, missing: [] };
    case "run":
      if (list) return judgeTexts(list, rights);
      return judgeText(filled(textOf(permission), values), rights);
    case "grant":
      return judgeText(filled(textOf(permission), values), rights);
    case "when": {
      const value = values[inHeader(permission.header.toLowerCase())];
      if (value === null || value === undefined) return HELD;
      return judgeText(
        permission.grant.replace("{value}", () => value),
        rights,
      );
    }
    case "scoped":
      if (rights.seenBy(permission.grant).length > 0) return HELD;
      return { isHeld: false, missing: [anyOf(permission.grant)] };
    case "all": {
      const each = permission.of.map((one) => judge(one, values, held));
      const refused = each.filter((one) => one?.isHeld === false);
      if (refused.length > 0) {
        return { isHeld: false, missing: refused.flatMap((one) => one?.missing ?? []) };
      }
      return each.includes(undefined) ? undefined : HELD;
    }
    case "any": {
      const each = permission.of.map((one) => judge(one, values, held));
      if (each.some((one) => one?.isHeld)) return HELD;
      if (each.includes(undefined)) return undefined;
      return { isHeld: false, missing: each.flatMap((one) => one?.missing ?? []) };
    }
  }
}

function judgeText(needed: string | null | undefined, rights: Rights): Judged | undefined {
  if (needed === undefined) return undefined;
  if (needed === null || rights.holds(needed)) return HELD;
  return { isHeld: false, missing: [needed] };
}

function judgeTexts(needed: readonly string[], rights: Rights): Judged {
  const missing = needed.filter((permission) => !rights.holds(permission));
  return { isHeld: missing.length === 0, missing };
}

function refuseMissing(needed: readonly string[], rights: Rights): void {
  const { isHeld, missing } = judgeTexts(needed, rights);
  if (!isHeld) throw denied(missing);
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
export function filled(text: string, values: Subject): string | null | undefined {
  const names = placeholdersOf(text);
  if (names.some((name) => values[name] === undefined)) return undefined;
  if (names.some((name) => values[name] === null)) return null;
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}

/** The form that a caller lacks who sees nothing by a scoped permission (AUTH-33). */
function anyOf(grant: string): string {
  return grant.replace(/\{\w+\}/g, "*");
}

export function denied(missing_permissions: readonly string[]): EngineError {
  const message = `the caller lacks ${missing_permissions.join(", ")}`;
  return new EngineError("permission_denied", message, { details: { missing_permissions } });
}
