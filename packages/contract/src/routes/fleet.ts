import * as z from "zod";
import { filteredListOf, paging, repeated } from "../wire/list.ts";
import { grant, scoped } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";
import type { Labels } from "../workers/worker.ts";
import { DetailedWorkerRecord, WorkerRecord, WorkerStatus } from "../workers/worker-record.ts";

const manage = grant("admin:workers:manage");

/** `k=v`, split at the first `=`. */
const LabelTerm = z.string().regex(/^[^=]+=.+$/, "must be key=value");
const labels = repeated(LabelTerm).transform((terms): Labels | undefined =>
  terms === undefined ? undefined : Object.fromEntries(terms.map(splitOnce)),
);

function splitOnce(term: string): [string, string] {
  const at = term.indexOf("=");
  return [term.slice(0, at), term.slice(at + 1)];
}

/** Workers as operators see them: every answer comes from the store (WMD-6). */
export const fleetRoutes = {
  list: {
    method: "GET",
    path: "/workers",
    summary: "Lists workers by name.",
    permission: scoped("worker:{name}:read"),
    effect: "read",
    query: z.strictObject({
      status: WorkerStatus.optional().describe("only those that are so"),
      label: labels.describe("only with this label, as `key=value`; may be repeated"),
      ...paging(1000, 100),
    }),
    answers: { 200: filteredListOf(WorkerRecord) },
  },
  show: {
    method: "GET",
    path: "/workers/{name}",
    summary: "Reads one worker, with the executions it owns.",
    permission: grant("worker:{name}:read"),
    effect: "read",
    answers: { 200: DetailedWorkerRecord },
  },
  pause: {
    method: "POST",
    path: "/admin/workers/{name}/pause",
    summary: "Gives a worker no more work, until it is resumed; what it runs goes on.",
    permission: manage,
    effect: "write",
    answers: { 200: WorkerRecord },
  },
  resume: {
    method: "POST",
    path: "/admin/workers/{name}/resume",
    summary: "Gives a paused worker work again.",
    permission: manage,
    effect: "write",
    answers: { 200: WorkerRecord },
  },
  drain: {
    method: "POST",
    path: "/admin/workers/{name}/drain",
    summary:
      "Makes a worker end: it takes nothing new, gives back what does not end in time, and leaves.",
    permission: manage,
    effect: "write",
    body: z
      .strictObject({
        timeout_seconds: z
          .number()
          .min(0)
          .optional()
          .describe("for what it runs; by default its own `drain_timeout`"),
      })
      .nullable(),
    answers: { 202: WorkerRecord },
  },
  delete: {
    method: "DELETE",
    path: "/admin/workers/{name}",
    summary: "Forgets the name of a worker that is not connected.",
    permission: manage,
    effect: "write",
    answers: { 204: { raw: null, meaning: "the name is forgotten" } },
  },
} as const satisfies Record<string, Route>;
