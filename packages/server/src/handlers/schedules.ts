import { isDeepStrictEqual } from "node:util";
import type { AuditEntry, Json, routes, ScheduleRow } from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import { auditEntry } from "../auth/audit-entry.ts";
import type { Engine } from "../engine.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Executions } from "../executions/executions.ts";
import { toRecord } from "../executions/record.ts";
import { rowAsCreated } from "../executions/row-after.ts";
import { startsAnew } from "../schedules/operator-rules.ts";
import { toSchedule, toScheduleRun } from "../schedules/schedule-record.ts";
import { addressOf } from "./run-answer.ts";
import { isFiltered, visibleNames, visibleWorkflows, workflowOf } from "./subjects.ts";

export function scheduleHandlers(
  {
    executions,
    schedules,
    runLists,
  }: Pick<Engine, "schedules" | "runLists"> & { readonly executions: Pick<Executions, "who"> },
  ports: Pick<EnginePorts, "clock" | "ids">,
): Handlers<typeof routes.schedules> {
  return {
    create: async ({ body }, call) => {
      const { name, run_as } = body;
      call.permit.demand({ name, run_as, ...workflowOf(body) });
      await call.permit.demandRun(() => runListOf(body));
      const audit = entry(name, call, { used: run_as, after: body });
      return answer(201, toSchedule(await schedules.create(body, audit)));
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
      const used = await demandStart(name, call, (row) =>
        startsAnew(row, body) ? (body.run_as === undefined ? row.run_as : body.run_as) : null,
      );
      const audit = (before: ScheduleRow, after: ScheduleRow) =>
        entry(name, call, { used, before, after });
      return answer(200, toSchedule(await schedules.change(name, body, audit)));
    },
    delete: async ({ params: { name } }, call) => {
      await schedules.delete(name, entry(name, call));
      return answer(204, undefined);
    },
    pause: async ({ params: { name } }, call) =>
      answer(200, toSchedule(await schedules.pause(name, () => entry(name, call)))),
    resume: async ({ params: { name } }, call) => {
      const used = await demandStart(name, call, (row) =>
        row.status === "active" ? null : row.run_as,
      );
      const audit = () => entry(name, call, { used });
      return answer(200, toSchedule(await schedules.resume(name, audit)));
    },
    trigger: async ({ params: { name } }, call) => {
      const used = await demandStart(name, call, ({ run_as }) => run_as);
      const row = rowAsCreated(await schedules.trigger(name, entry(name, call, { used })));
      return answer(202, toRecord(row, await executions.who(row)), addressOf(row));
    },
    history: async ({ params: { name }, query }, { permit }) => {
      await permit.demandOf(async () => workflowOf(await schedules.get(name)));
      const { items, total } = await schedules.history(name, query);
      return answer(200, { items: items.map(toScheduleRun), total, ...query });
    },
  };

  /**
   * Demands what every way to run as the schedule's account demands (AUTH-45). Answers that account.
   *
   * @param accountOf The account that runs because of this request; null where none does (AUTH-46).
   */
  async function demandStart(
    name: string,
    { permit }: Call,
    accountOf: (row: ScheduleRow) => string | null,
  ): Promise<string | null> {
    let used: string | null = null;
    await permit.demandOf(async () => {
      const row = await schedules.get(name);
      used = accountOf(row);
      return { ...workflowOf(row), run_as: used };
    });
    await permit.demandRun(async () => runListOf(await schedules.get(name)));
    return used;
  }

  function entry(target: string, call: Call, of: Noted = {}): AuditEntry {
    const { used = null, before, after } = of;
    const permissions = used === null ? [] : [`principal:${used}:impersonate`];
    return auditEntry(call, { target, permissions, changes: changesOf(before, after) }, ports);
  }

  function runListOf({
    namespace,
    workflow,
    version,
  }: Pick<ScheduleRow, "namespace" | "workflow" | "version">): Promise<readonly string[]> {
    return runLists.ofName(namespace, workflow, version ?? undefined);
  }
}

type Written = Partial<
  Pick<ScheduleRow, "namespace" | "workflow" | "version" | "run_as" | "overlap" | "catch_up">
> & { readonly spec?: unknown; readonly input?: unknown };

/** What the audit log notes of a request about a schedule. */
interface Noted {
  /** The account that runs because of it. */
  readonly used?: string | null;
  readonly before?: Written;
  readonly after?: Written;
}

/** Inputs may hold what is nobody else's business: the log says that one changed, not how. */
const NOTED = [
  "namespace",
  "workflow",
  "version",
  "run_as",
  "overlap",
  "catch_up",
  "spec",
] as const;

function changesOf(before: Written = {}, after?: Written): AuditEntry["changes"] {
  if (!after) return null;
  const changed = NOTED.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const values = changed.map((name) => {
    const [from, to] = [before[name] ?? null, after[name] ?? null];
    return [name, { before: from as Json, after: to as Json }] as const;
  });
  return Object.fromEntries(values);
}
