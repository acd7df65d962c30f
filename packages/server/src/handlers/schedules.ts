import type { routes, ScheduleRow } from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import type { Engine } from "../engine.ts";
import type { Executions } from "../executions/executions.ts";
import { toRecord } from "../executions/record.ts";
import { rowAsCreated } from "../executions/row-after.ts";
import { toSchedule, toScheduleRun } from "../schedules/schedule-record.ts";
import { addressOf } from "./run-answer.ts";
import { isFiltered, visibleNames, visibleWorkflows, workflowOf } from "./subjects.ts";

export function scheduleHandlers({
  executions,
  schedules,
  runLists,
}: Pick<Engine, "schedules" | "runLists"> & {
  readonly executions: Pick<Executions, "who">;
}): Handlers<typeof routes.schedules> {
  return {
    create: async ({ body }, { permit }) => {
      permit.demand({ name: body.name, run_as: body.run_as, ...workflowOf(body) });
      await permit.demandRun(() => runListOf(body));
      return answer(201, toSchedule(await schedules.create(body)));
    },
    list: async ({ query }, { permit }) => {
      const visible = visibleWorkflows(permit.seen("workflow"));
      const names = visibleNames(permit.seen("schedule"));
      const { items, total } = await schedules.list({ ...query, visible, names });
      const { limit, offset } = query;
      const auth_filtered = isFiltered(visible, names);
      return answer(200, { items: items.map(toSchedule), total, limit, offset, auth_filtered });
    },
    get: async ({ params: { name } }, { permit }) => {
      const row = await schedules.get(name);
      permit.demand(workflowOf(row));
      return answer(200, toSchedule(row));
    },
    update: async ({ params: { name }, body }, call) => {
      await demandStart(name, call, body.run_as);
      return answer(200, toSchedule(await schedules.change(name, body)));
    },
    delete: async ({ params: { name } }) => {
      await schedules.delete(name);
      return answer(204, undefined);
    },
    pause: async ({ params: { name } }) => answer(200, toSchedule(await schedules.pause(name))),
    resume: async ({ params: { name } }, call) => {
      await demandStart(name, call);
      return answer(200, toSchedule(await schedules.resume(name)));
    },
    trigger: async ({ params: { name } }, call) => {
      await demandStart(name, call);
      const row = rowAsCreated(await schedules.trigger(name));
      return answer(202, toRecord(row, await executions.who(row)), addressOf(row));
    },
    history: async ({ params: { name }, query }, { permit }) => {
      await permit.demandOf(async () => workflowOf(await schedules.get(name)));
      const { items, total } = await schedules.history(name, query);
      return answer(200, { items: items.map(toScheduleRun), total, ...query });
    },
  };

  /** Demands what every way to run as the schedule's account demands (AUTH-45). */
  async function demandStart(
    name: string,
    { permit }: Call,
    run_as?: string | null,
  ): Promise<void> {
    await permit.demandOf(async () => {
      const row = await schedules.get(name);
      return { ...workflowOf(row), run_as: run_as === undefined ? row.run_as : run_as };
    });
    await permit.demandRun(async () => runListOf(await schedules.get(name)));
  }

  function runListOf({
    namespace,
    workflow,
    version,
  }: Pick<ScheduleRow, "namespace" | "workflow" | "version">): Promise<readonly string[]> {
    return runLists.ofName(namespace, workflow, version ?? undefined);
  }
}
