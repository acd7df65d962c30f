import type { AuditEntry, ExtractedWorkflow, routes, WorkflowRecord } from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import { auditEntry } from "../auth/audit-entry.ts";
import type { Engine } from "../engine.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { hookEntry } from "../hooks/hook-audit.ts";
import type { HookRegistrar, NeededHook } from "../hooks/hook-declarations.ts";
import { isFiltered, visibleWorkflows } from "./subjects.ts";

export function catalogHandlers(
  { catalog, declarations, runLists, accounts, dryRuns, hooks: allHooks }: Engine,
  ports: Pick<EnginePorts, "clock" | "ids">,
): Handlers<typeof routes.catalog> {
  return {
    register: async ({ query: { dry_run: dryRun }, body }, call) => {
      const by = call.caller.principal;
      const demand = (workflows: readonly ExtractedWorkflow[]) => demandOf(workflows, call);
      const audit = (workflows: readonly ExtractedWorkflow[]) =>
        entry(workflows.map(({ namespace, name }) => `${namespace}/${name}`).join(", "), call);
      const hooks = (workflows: readonly ExtractedWorkflow[]) => registrarOf(workflows, call);
      const registered = await catalog.register(body, { dryRun, by, demand, audit, hooks });
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
    placement: async ({ params: { ns, wf }, body }, { permit }) => {
      await permit.demandRun(() => runLists.ofName(ns, wf, body.version));
      return answer(200, await dryRuns.place({ namespace: ns, workflow: wf }, body));
    },
    delete: async ({ params: { ns, wf }, query: { version } }, call) => {
      const what = version === undefined ? `${ns}/${wf}` : `${ns}/${wf} v${version}`;
      await catalog.delete(ns, wf, version, entry(what, call));
      return answer(204, undefined);
    },
    versions: async ({ params: { ns, wf }, query }) =>
      answer(200, paged(await catalog.versions(ns, wf, query), query)),
    version: async ({ params: { ns, wf, version }, query: { source } }) =>
      answer(200, await withSource(await catalog.get(ns, wf, version), source)),
  };

  /** Demands all that registering takes, by what the parsed source declares (AUTH-59). */
  async function demandOf(workflows: readonly ExtractedWorkflow[], call: Call): Promise<void> {
    const declared = workflows.flatMap((workflow) => {
      const { namespace: ns } = workflow;
      return [null, ...secretsOf(workflow)].map((secret) => ({ ...NOTHING, ns, secret }));
    });
    call.permit.demand(...declared);
    const { rights } = call.caller;
    if (!accounts.areChecked && !rights) return;
    for (const workflow of await declarations.changing(workflows)) {
      const { namespace: ns, name, schedule } = workflow;
      const { run_as } = schedule;
      call.permit.demand({ ...NOTHING, ns, schedule: `${ns}.${name}`, run_as });
      const needed = await runLists.ofRecord(workflow, null);
      await call.permit.demandRun(() => needed);
      if (accounts.areChecked && run_as !== null) await accounts.holding(run_as, needed);
    }
  }

  function registrarOf(workflows: readonly ExtractedWorkflow[], call: Call): HookRegistrar {
    return {
      by: call.caller.identity?.subject ?? null,
      approve: (needed) => approve(needed, workflows, call),
      audit: (target, used) => hookEntry(call, { target, used }, ports),
    };
  }

  /** The right to make hooks comes before that to be their accounts, and both before what these are (HOOK-42). */
  async function approve(
    needed: readonly NeededHook[],
    workflows: readonly ExtractedWorkflow[],
    call: Call,
  ): Promise<void> {
    const made = needed.map(({ namespace: ns }) => ({ ...NOTHING, ns, hook: "*" }));
    call.permit.demand(...made);
    call.permit.demand(
      ...made.map((each, at) => ({ ...each, run_as: needed[at]?.hook.principal ?? null })),
    );
    await allHooks.assertRunnable(
      needed.map(({ hook }) => hook),
      workflows,
    );
  }

  function entry(target: string, call: Call): AuditEntry {
    return auditEntry(call, { target }, ports);
  }

  async function withSource(record: WorkflowRecord, source: boolean | undefined) {
    return source ? { ...record, files: [...(await catalog.readFiles(record))] } : record;
  }
}

/** Of what registering may take: none of it. */
const NOTHING = { secret: null, schedule: null, run_as: null, hook: null };

function secretsOf({ secrets, tasks }: ExtractedWorkflow): ReadonlySet<string> {
  return new Set([...secrets, ...tasks.flatMap((task) => task.secrets)]);
}

function paged<Item>(
  { items, total }: { readonly items: readonly Item[]; readonly total: number },
  { limit, offset }: { readonly limit: number; readonly offset: number },
): { items: Item[]; total: number; limit: number; offset: number } {
  return { items: [...items], total, limit, offset };
}
