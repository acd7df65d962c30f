/**
 * What a route needs of its caller, as data in the notation of the authorization rules. `{…}` in a
 * grant is filled from the path, the body or the stored record.
 */
export type Permission =
  /** No credential. */
  | { readonly kind: "open" }
  /** Any authenticated principal. */
  | { readonly kind: "identity" }
  /** The worker the path names, with its session. */
  | { readonly kind: "worker" }
  | { readonly kind: "grant"; readonly grant: string }
  /** The whole pre-flight list of a workflow: `run(ns/wf)`. */
  | { readonly kind: "run"; readonly workflow: string }
  /** Rows are filtered by this grant. */
  | { readonly kind: "scoped"; readonly grant: string }
  /** The caller is the execution's `started_by` or `run_as`. */
  | { readonly kind: "own" }
  /** Needed of a request that carries the header, whose value is `{value}`. */
  | { readonly kind: "when"; readonly header: string; readonly grant: string }
  | { readonly kind: "all"; readonly of: readonly Permission[] }
  | { readonly kind: "any"; readonly of: readonly Permission[] };

export const open: Permission = { kind: "open" };
export const identity: Permission = { kind: "identity" };
export const worker: Permission = { kind: "worker" };
export const grant = (text: string): Permission => ({ kind: "grant", grant: text });
export const run = (workflow: string): Permission => ({ kind: "run", workflow });
export const scoped = (text: string): Permission => ({ kind: "scoped", grant: text });
export const own: Permission = { kind: "own" };
export const when = (header: string, text: string): Permission => ({
  kind: "when",
  header,
  grant: text,
});
export const all = (...of: Permission[]): Permission => ({ kind: "all", of });
export const any = (...of: Permission[]): Permission => ({ kind: "any", of });

/** The permission as the documentation writes it. */
export function permissionText(permission: Permission): string {
  switch (permission.kind) {
    case "open":
    case "identity":
    case "worker":
    case "own":
      return permission.kind;
    case "when":
      return `${permission.grant.replace("{value}", "{name}")} when ${permission.header}`;
    case "grant":
      return permission.grant;
    case "run":
      return `run(${permission.workflow})`;
    case "scoped":
      return `scoped(${permission.grant})`;
    case "all":
      return permission.of.map(factorText).join(" + ");
    case "any":
      return permission.of.map(permissionText).join(" | ");
  }
}

/** `+` binds closer than `|`. */
function factorText(permission: Permission): string {
  const text = permissionText(permission);
  return permission.kind === "any" ? `(${text})` : text;
}
