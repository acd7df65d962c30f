import { createHash } from "node:crypto";
import { ToolKind } from "@engine/contract";

/** In the order in which an endpoint's tools are listed (MCP-1). */
export const TOOL_KINDS: readonly ToolKind[] = ToolKind.options;

/** Names of an endpoint: those of its tools, and of the stream operation, which is no tool (SVC-58). */
export type EndpointNames = Readonly<Record<ToolKind | "stream", string>>;

/** What of an endpoint its names follow from. */
export interface NamedEndpoint {
  /** The workflow's name. */
  readonly name: string;
  /** `<namespace>/<name>`. */
  readonly ref: string;
}

const WANTED: Readonly<Record<keyof EndpointNames, (name: string) => string>> = {
  run: (name) => name,
  async: (name) => `${name}_async`,
  resume: (name) => `resume_${name}`,
  resume_async: (name) => `resume_${name}_async`,
  status: (name) => `status_${name}`,
  stream: (name) => `${name}_stream`,
};

/** Clients refuse longer names. */
const LONGEST = 64;
const KEPT_OF_LONGER = 55;

/**
 * Names the tools of a service, and its stream operations last (MCP-2, SVC-58). The names are those of
 * every caller, in gateway, server and OpenAPI alike, so give the full list of endpoints, without
 * colliding ones and whatever the caller may do; its order does not matter.
 *
 * @returns The names by the endpoint's `ref`; all are distinct and match `^[A-Za-z0-9_.-]{1,64}$`.
 */
export function endpointNames(
  endpoints: readonly NamedEndpoint[],
): ReadonlyMap<string, EndpointNames> {
  const ordered = [...endpoints].sort(byName);
  const taken = new Set<string>();
  const names = new Map(ordered.map(({ ref }) => [ref, {} as Record<keyof EndpointNames, string>]));
  // Kind by kind: so a run tool has its workflow's name, whatever other workflows are called.
  for (const kind of [...TOOL_KINDS, "stream"] as const) {
    for (const { name, ref } of ordered) {
      const chosen = freeName(WANTED[kind](name), `${kind}:${ref}`, taken);
      taken.add(chosen);
      const own = names.get(ref);
      if (own) own[kind] = chosen;
    }
  }
  return names;
}

/** Orders endpoints by name, the same on every machine. */
export function byName(a: NamedEndpoint, b: NamedEndpoint): number {
  return compare(a.name, b.name) || compare(a.ref, b.ref);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function freeName(wanted: string, key: string, taken: ReadonlySet<string>): string {
  if (wanted.length <= LONGEST && !taken.has(wanted)) return wanted;
  const short = `${wanted.slice(0, KEPT_OF_LONGER)}_${hash(key)}`;
  // Somebody may call a workflow what another's tool would be called.
  return taken.has(short) ? freeName(wanted, `${key}:`, taken) : short;
}

function hash(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 8);
}
