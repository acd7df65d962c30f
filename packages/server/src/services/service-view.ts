/** What a service offers: its choice, resolved over the catalog (SVC-4). */
import { EngineError, type NameCollision, notFound, parseWorkflowName } from "@engine/contract";
import type { ServiceRow, StoredVersion } from "@engine/store";

/** A service and what it chose of the catalog at one moment. */
export interface ServiceView {
  readonly row: ServiceRow;
  /** Latest versions by the workflow's name, in the order of names; of several all collide. */
  readonly named: ReadonlyMap<string, readonly StoredVersion[]>;
  /** Entries that match nothing. */
  readonly unmatched: Pick<ServiceRow, "namespaces" | "workflows" | "exclusions">;
}

/** @param chosen What namespaces and workflows of the service choose, by name and then by namespace. */
export function viewOf(row: ServiceRow, chosen: readonly StoredVersion[]): ServiceView {
  const refs = new Set(chosen.map(refOf));
  const namespaces = new Set(chosen.map(({ record }) => record.namespace));
  const excluded = new Set(row.exclusions);
  const named = new Map<string, StoredVersion[]>();
  for (const version of chosen) {
    if (excluded.has(refOf(version))) continue;
    const { name } = version.record;
    named.set(name, [...(named.get(name) ?? []), version]);
  }
  const unmatched = {
    namespaces: row.namespaces.filter((namespace) => !namespaces.has(namespace)),
    workflows: row.workflows.filter((ref) => !refs.has(ref)),
    exclusions: row.exclusions.filter((ref) => !refs.has(ref)),
  };
  return { row, named, unmatched };
}

/** The workflows that a service names one by one. */
export function workflowsOf({ workflows }: Pick<ServiceRow, "workflows">): readonly {
  readonly namespace: string;
  readonly name: string;
}[] {
  return workflows.flatMap((ref) => parseWorkflowName(ref) ?? []);
}

/** What a name stands for. @throws EngineError `not_found`, `name_collision`. */
export function endpointOf({ row, named }: ServiceView, name: string): StoredVersion {
  const [version, ...others] = named.get(name) ?? [];
  if (!version) throw notFound("workflow", `${name} in service ${row.name}`);
  if (others.length === 0) return version;
  const details = { name, refs: [version, ...others].map(refOf).sort() };
  throw new EngineError(
    "name_collision",
    `service ${row.name} has ${details.refs.join(" and ")}: exclude all but one`,
    { details },
  );
}

/** The endpoints that can be called, by name. */
export function endpointsOf({ named }: ServiceView): readonly StoredVersion[] {
  return [...named.values()].flatMap((versions) => (versions.length === 1 ? versions : []));
}

export function collisionsOf({ named }: ServiceView): NameCollision[] {
  return [...named].flatMap(([name, versions]) =>
    versions.length > 1 ? { name, refs: versions.map(refOf).sort() } : [],
  );
}

export function refOf({ record: { namespace, name } }: StoredVersion): string {
  return `${namespace}/${name}`;
}
