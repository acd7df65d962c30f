import { isDeepStrictEqual } from "node:util";
import {
  type AuditEntry,
  invalidField,
  type Json,
  type routes,
  type ScheduleRow,
} from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import type { Accounts } from "../auth/accounts.ts";
import { auditEntry } from "../auth/audit-entry.ts";
import type { Engine } from "../engine.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Executions } from "../executions/executions.ts";
import { toRecord } from "../executions/record.ts";
import { rowAsCreated } from "../executions/row-after.ts";
import { startsAnew } from "../schedules/operator-rules.ts";
import { toSchedule, toScheduleRun } from "../schedules/schedule-record.ts";
import { routingHeader } from "./routing-header.ts";
import { addressOf } from "./run-answer.ts";
import { isFiltered, visibleNames, visibleWorkflows, workflowOf } from "./subjects.ts";

export function scheduleHandlers(
  {
    executions,
    schedules,
    runLists,
    accounts,
  }: Pick<Engine, "schedules" | "runLists"> & {
    readonly executions: Pick<Executions, "who">;
    readonly accounts: Pick<Accounts, "areChecked">;
  },
  ports: Pick<EnginePorts, "clock" | "ids">,
): Handlers<typeof routes.schedules> {
  return {
    create: async ({ body }, call) => {
      const { name, run_as } = body;
      const subject = { name, run_as, ...workflowOf(body) };
      await call.permit.demandToRun(subject, () => runListOf(body));
      refuseNobody(run_as);
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
      const usedOf = (row: ScheduleRow) => {
        const { run_as = row.run_as } = body;
        return startsAnew(row, body) ? run_as : null;
      };
      const allow = async (row: ScheduleRow) => {
        const { version = row.version } = body;
        await demandStart({ ...row, version }, usedOf(row), call);
        if (startsAnew(row, body)) refuseNobody(usedOf(row));
      };
      const audit = (before: ScheduleRow, after: ScheduleRow) =>
        entry(name, call, { used: usedOf(before), before, after });
      return answer(200, toSchedule(await schedules.change(name, body, { allow, audit })));
    },
    delete: async ({ params: { name } }, call) => {
      await schedules.delete(name, entry(name, call));
      return answer(204, undefined);
    },
    pause: async ({ params: { name } }, call) =>
      answer(200, toSchedule(await schedules.pause(name, () => entry(name, call)))),
    resume: async ({ params: { name } }, call) => {
      const usedOf = (row: ScheduleRow) => (row.status === "active" ? null : row.run_as);
      const allow = (row: ScheduleRow) => demandStart(row, usedOf(row), call);
      const audit = (before: ScheduleRow) => entry(name, call, { used: usedOf(before) });
      return answer(200, toSchedule(await schedules.resume(name, { allow, audit })));
    },
    trigger: async ({ params: { name } }, call) => {
      const allow = (row: ScheduleRow) => demandStart(row, row.run_as, call);
      const audit = ({ run_as }: ScheduleRow) => entry(name, call, { used: run_as });
      const routing_input = () => routingHeader(call);
      const row = rowAsCreated(await schedules.trigger(name, { allow, audit, routing_input }));
      return answer(202, toRecord(row, await executions.who(row)), addressOf(row));
    },
    history: async ({ params: { name }, query }, { permit }) => {
      await permit.demandOf(async () => workflowOf(await schedules.get(name)));
      const { items, total } = await schedules.history(name, query);
      return answer(200, { items: items.map(toScheduleRun), total, ...query });
    },
  };

  /**
   * Demands what every way to run as the schedule's account demands (AUTH-45).
   *
   * @param used The account that runs because of this request; null where none does (AUTH-46).
   */
  function demandStart(row: Ran, used: string | null, { permit }: Call): Promise<void> {
    return permit.demandToRun({ ...workflowOf(row), run_as: used }, () => runListOf(row));
  }

  /** A schedule is written for an account, once there are any (EXE-74). */
  function refuseNobody(run_as: string | null): void {
    if (!accounts.areChecked || run_as !== null) return;
    throw invalidField("body.run_as", "is needed: name the service account that executions run as");
  }

  function entry(target: string, call: Call, of: Noted = {}): AuditEntry {
    const { used = null, before, after } = of;
    const permissions = used === null ? [] : [`principal:${used}:impersonate`];
    return auditEntry(call, { target, permissions, changes: changesOf(before, after) }, ports);
  }

  function runListOf({ namespace, workflow, version }: Ran): Promise<readonly string[]> {
    return runLists.ofName(namespace, workflow, version ?? undefined);
  }
}

type Ran = Pick<ScheduleRow, "namespace" | "workflow" | "version">;

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
