/** For tests: an endpoint of a service that has one. */
import type { ServiceEndpoint } from "@engine/contract";

/** An endpoint of a workflow, `<namespace>/<name>`. */
export function endpointOf(ref: string, changes: Partial<ServiceEndpoint> = {}): ServiceEndpoint {
  const [namespace = "", name = ""] = ref.split("/");
  return {
    name,
    path: `/services/shop/${name}`,
    ref,
    namespace,
    version: 1,
    description: null,
    input_schema: null,
    output_schema: null,
    can_run: true,
    ...changes,
  };
}
