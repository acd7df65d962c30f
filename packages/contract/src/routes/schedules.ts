import * as z from "zod";
import { Name } from "../definitions/catalog.ts";
import { ExecutionRecord } from "../executions/execution.ts";
import {
  NewSchedule,
  Schedule,
  ScheduleChanges,
  ScheduleRun,
  ScheduleSource,
  ScheduleStatus,
} from "../schedules/schedule.ts";
import { filteredListOf, listOf, paging } from "../wire/list.ts";
import { all, grant, run, scoped } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";
import { RoutingHeaders } from "./execution-queries.ts";

const manage = grant("schedule:{name}:manage");
const read = all(grant("schedule:{name}:read"), grant("workflow:{ns}:{wf}:read"));
/** Needed for every request that can make an execution run as the schedule's account (AUTH-45). */
const start = all(manage, run("{ns}/{wf}"), grant("principal:{run_as}:impersonate"));

export const scheduleRoutes = {
  create: {
    method: "POST",
    path: "/schedules",
    summary:
      "Creates a schedule: by a cron expression in a time zone, by an interval, or for one instant.",
    permission: start,
    effect: "write",
    body: NewSchedule,
    answers: { 201: Schedule },
  },
  list: {
    method: "GET",
    path: "/schedules",
    summary: "Lists schedules by name.",
    permission: all(scoped("schedule:{name}:read"), scoped("workflow:{ns}:{wf}:read")),
    effect: "read",
    query: z.strictObject({
      namespace: Name.optional().describe("only of workflows of this namespace"),
      workflow: Name.optional().describe("only of workflows with this name"),
      status: ScheduleStatus.optional().describe("only with this status"),
      source: ScheduleSource.optional().describe("`api`, or `code` for those a workflow declares"),
      ...paging(1000, 200),
    }),
    answers: { 200: filteredListOf(Schedule) },
  },
  get: {
    method: "GET",
    path: "/schedules/{name}",
    summary: "Reads a schedule.",
    permission: read,
    effect: "read",
    answers: { 200: Schedule },
  },
  update: {
    method: "PUT",
    path: "/schedules/{name}",
    summary: "Changes a schedule; what is left out stays. One that a workflow declares is refused.",
    permission: start,
    effect: "write",
    body: ScheduleChanges,
    answers: { 200: Schedule },
  },
  delete: {
    method: "DELETE",
    path: "/schedules/{name}",
    summary: "Deletes a schedule; its executions stay and go on.",
    permission: manage,
    effect: "write",
    answers: { 204: { raw: null, meaning: "the schedule is deleted" } },
  },
  pause: {
    method: "POST",
    path: "/schedules/{name}/pause",
    summary: "Pauses a schedule; what it would have started meanwhile is not caught up.",
    permission: manage,
    effect: "write",
    answers: { 200: Schedule },
  },
  resume: {
    method: "POST",
    path: "/schedules/{name}/resume",
    summary: "Goes on with a paused or disabled schedule, from its next instant after now.",
    permission: start,
    effect: "write",
    answers: { 200: Schedule },
  },
  trigger: {
    method: "POST",
    path: "/schedules/{name}/trigger",
    summary: "Starts one run now, whatever the status of the schedule and its other runs.",
    permission: start,
    effect: "write",
    headers: RoutingHeaders,
    answers: { 202: ExecutionRecord },
  },
  history: {
    method: "GET",
    path: "/schedules/{name}/history",
    summary: "Lists the runs of a schedule, newest first.",
    permission: read,
    effect: "read",
    query: z.strictObject(paging(200, 50)),
    answers: { 200: listOf(ScheduleRun) },
  },
} as const satisfies Record<string, Route>;
