/** Services, their endpoints and their executions as callers are told of them. */
import {
  type ExecutionRow,
  formatInstant,
  recordForCaller,
  type ServiceEndpoint,
  type ServiceRecord,
  type ServiceRun,
  toPlain,
} from "@engine/contract";
import type { ServiceRow, StoredVersion } from "@engine/store";
import { toSummary } from "../executions/record.ts";
import { refOf } from "./service-view.ts";

export function toServiceRecord(row: ServiceRow): ServiceRecord {
  return {
    ...{ id: row.id, name: row.name, description: row.description },
    namespaces: [...row.namespaces],
    workflows: [...row.workflows],
    exclusions: [...row.exclusions],
    mcp_enabled: row.mcp_enabled,
    created_at: formatInstant(row.created_at),
    updated_at: formatInstant(row.updated_at),
  };
}

/** What a caller may do with a workflow. */
export interface EndpointRights {
  readonly can_run: boolean;
  /** Whether it may know more of it than its name. */
  readonly isKnown: boolean;
}

export function toEndpoint(
  service: string,
  version: StoredVersion,
  { can_run, isKnown }: EndpointRights,
): ServiceEndpoint {
  const { namespace, name, version: number, ...record } = version.record;
  const { description, input_schema = null, output_schema = null } = record;
  return {
    name,
    path: endpointPath(service, name),
    ref: refOf(version),
    namespace,
    version: number,
    description: isKnown ? description : null,
    input_schema: isKnown ? input_schema : null,
    output_schema: isKnown ? output_schema : null,
    can_run,
  };
}

/** The path `…/mcp` is taken: a workflow of that name is run with its mode (GW-9). */
function endpointPath(service: string, name: string): string {
  return `/services/${service}/${name}${name === "mcp" ? "/sync" : ""}`;
}

export function statusPath(service: string, { workflow, execution_id }: ExecutionRow): string {
  return `/services/${service}/${workflow}/status/${execution_id}`;
}

/** Records name who started them; callers of a service are not told of anybody. */
const nobody = () => null;

/**
 * The detailed form of an execution (SVC-44), without the address that only some answers have.
 *
 * @param row With its real output.
 */
export function toServiceRun(service: string, row: ExecutionRow): ServiceRun {
  const summary = recordForCaller(toSummary(row, nobody));
  const { execution_id, namespace, workflow, version, state } = summary;
  const run = { execution_id, namespace, workflow, version, output: toPlain(row.output) };
  switch (state) {
    case "PAUSED": {
      const resume_url = `/services/${service}/${workflow}/resume/${execution_id}`;
      return { ...run, state, pause: summary.pause, resume_url };
    }
    case "FAILED":
    case "CANCELLED":
      return { ...run, state, error: summary.error };
    default:
      return { ...run, state };
  }
}
