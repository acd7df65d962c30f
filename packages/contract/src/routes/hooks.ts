import * as z from "zod";
import {
  DeliveryQuery,
  DeliveryRecord,
  DeliveryRetry,
  DetailedDelivery,
  HookTest,
  RetriedDeliveries,
  TestedHook,
} from "../hooks/delivery.ts";
import { DetailedHook, HookQuery, HookRecord, HookUpdate, NewHook } from "../hooks/hook.ts";
import { listOf } from "../wire/list.ts";
import { all, grant } from "../wire/permission.ts";
import { wholeNumber } from "../wire/query-number.ts";
import type { Route } from "../wire/route.ts";

/** How many deliveries that waited went with a hook that was deleted (HOOK-36). */
export const PENDING_DROPPED_HEADER = "x-engine-pending-dropped";

/** Needed by whatever can make an execution run as the hook's account (HOOK-40); nobody, where nothing does. */
const impersonate = grant("principal:{principal}:impersonate");
const update = all(grant("hook:{name}:update"), impersonate);
const readDeliveries = grant("hook:deliveries:read");
const retryDeliveries = all(grant("hook:deliveries:retry"), impersonate);

/** Outbound hooks and their deliveries (HOOK-36). */
export const hookRoutes = {
  create: {
    method: "POST",
    path: "/hooks",
    summary:
      "Makes a hook: whenever an event matches one of its selectors, it runs a workflow as a service account, with the event as input.",
    permission: all(grant("hook:*:create"), impersonate),
    effect: "write",
    body: NewHook,
    answers: { 201: HookRecord },
  },
  list: {
    method: "GET",
    path: "/hooks",
    summary: "Lists hooks by name.",
    permission: grant("hook:*:read"),
    effect: "read",
    query: HookQuery,
    answers: { 200: listOf(HookRecord) },
  },
  get: {
    method: "GET",
    path: "/hooks/{name}",
    summary:
      "Reads a hook with what became of its deliveries, and what would stop the next one (`problems`).",
    permission: grant("hook:{name}:read"),
    effect: "read",
    answers: { 200: DetailedHook },
  },
  update: {
    method: "PUT",
    path: "/hooks/{name}",
    summary:
      "Changes a hook; what is left out stays. Of one that a workflow or an agent declares only `enabled` changes here.",
    permission: update,
    effect: "write",
    body: HookUpdate,
    answers: { 200: HookRecord },
  },
  delete: {
    method: "DELETE",
    path: "/hooks/{name}",
    summary: "Deletes a hook with its deliveries; executions that it has started go on.",
    permission: grant("hook:{name}:delete"),
    effect: "write",
    answers: {
      204: {
        raw: null,
        meaning: "the hook is deleted",
        headers: z.object({
          [PENDING_DROPPED_HEADER]: wholeNumber({ min: 0 }).describe(
            "deliveries that waited, and are gone",
          ),
        }),
      },
    },
  },
  test: {
    method: "POST",
    path: "/hooks/{name}/test",
    summary:
      "Starts the workflow of a hook once, enabled or not, with an envelope as an event of its first selector would make it; no delivery is kept.",
    permission: update,
    effect: "write",
    body: HookTest.nullable(),
    answers: { 202: TestedHook },
  },
  deliveries: {
    method: "GET",
    path: "/hooks/{name}/deliveries",
    summary: "Lists the deliveries of a hook, newest first.",
    permission: readDeliveries,
    effect: "read",
    query: DeliveryQuery,
    answers: { 200: listOf(DeliveryRecord) },
  },
  delivery: {
    method: "GET",
    path: "/hooks/{name}/deliveries/{delivery_id}",
    summary:
      "Reads a delivery with its envelope. The value of the event is shown to those who may read the workflow that it is of.",
    permission: readDeliveries,
    effect: "read",
    answers: { 200: DetailedDelivery },
  },
  retry: {
    method: "POST",
    path: "/hooks/{name}/deliveries/{delivery_id}/retry",
    summary: "Has a delivery that was given up tried anew, with as many tries as at first.",
    permission: retryDeliveries,
    effect: "write",
    answers: { 200: DeliveryRecord },
  },
  retryMany: {
    method: "POST",
    path: "/hooks/{name}/deliveries/retry",
    summary:
      "Does the same with many, oldest first. `remaining` says how many are left for another request.",
    permission: retryDeliveries,
    effect: "write",
    body: DeliveryRetry.nullable(),
    answers: { 200: RetriedDeliveries },
  },
} as const satisfies Record<string, Route>;
