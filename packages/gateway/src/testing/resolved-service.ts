import type { ResolvedService } from "@engine/contract";

/** Service `billing` with endpoints of namespace `shop` by these names. */
export function resolvedService(
  names: readonly string[],
  changes: Partial<ResolvedService> = {},
): ResolvedService {
  return {
    id: "0198c0de-0000-7000-8000-000000000000",
    name: "billing",
    description: null,
    namespaces: ["shop"],
    workflows: [],
    exclusions: [],
    mcp_enabled: false,
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
    endpoints: names.map((name) => ({
      name,
      path: `/services/billing/${name}`,
      ref: `shop/${name}`,
      namespace: "shop",
      version: 1,
      description: null,
      input_schema: null,
      output_schema: null,
      can_run: true,
    })),
    collisions: [],
    unmatched: { namespaces: [], workflows: [], exclusions: [] },
    ...changes,
  };
}
