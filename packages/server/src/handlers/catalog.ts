import type { ExtractedWorkflow, routes, WorkflowRecord } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import type { Engine } from "../engine.ts";
import { isFiltered, visibleWorkflows } from "./subjects.ts";

export function catalogHandlers({ catalog }: Engine): Handlers<typeof routes.catalog> {
  return {
    register: async ({ query: { dry_run: dryRun }, body }, { caller, permit }) => {
      const demand = (workflows: readonly ExtractedWorkflow[]) =>
        permit.demand(...workflows.map(({ namespace }) => ({ ns: namespace })));
      const registered = await catalog.register(body, { dryRun, by: caller.principal, demand });
      const isCreated = !dryRun && registered.items.some(({ created }) => created);
      return isCreated ? answer(201, registered) : answer(200, registered);
    },
    list: async ({ query }, { permit }) => {
      const visible = visibleWorkflows(permit.seen("workflow"));
      const page = paged(await catalog.list({ ...query, visible }), query);
      return answer(200, { ...page, auth_filtered: isFiltered(visible) });
    },
    namespaces: async ({ query }, { permit }) => {
      const visible = visibleWorkflows(permit.seen("workflow"));
      const page = paged(await catalog.namespaces({ ...query, visible }), query);
      return answer(200, { ...page, auth_filtered: isFiltered(visible) });
    },
    get: async ({ params: { ns, wf }, query: { source } }) =>
      answer(200, await withSource(await catalog.get(ns, wf), source)),
    delete: async ({ params: { ns, wf }, query: { version } }) => {
      await catalog.delete(ns, wf, version);
      return answer(204, undefined);
    },
    versions: async ({ params: { ns, wf }, query }) =>
      answer(200, paged(await catalog.versions(ns, wf, query), query)),
    version: async ({ params: { ns, wf, version }, query: { source } }) =>
      answer(200, await withSource(await catalog.get(ns, wf, version), source)),
  };

  async function withSource(record: WorkflowRecord, source: boolean | undefined) {
    return source ? { ...record, files: [...(await catalog.readFiles(record))] } : record;
  }
}

function paged<Item>(
  { items, total }: { readonly items: readonly Item[]; readonly total: number },
  { limit, offset }: { readonly limit: number; readonly offset: number },
): { items: Item[]; total: number; limit: number; offset: number } {
  return { items: [...items], total, limit, offset };
}
