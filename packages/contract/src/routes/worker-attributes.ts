import { any, grant } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";
import { NewMetadata, WorkerMetadata, WorkerServices } from "../workers/worker-attributes.ts";

const manage = grant("admin:workers:manage");
const read = any(manage, grant("worker:{name}:read"));

/** What operators say of a worker's name, and no worker can say of itself (WMD-1, WMD-3). */
export const workerAttributeRoutes = {
  putMetadata: {
    method: "PUT",
    path: "/admin/workers/{name}/metadata",
    summary: "Sets metadata of a worker: adds to what it has, or takes its place.",
    permission: manage,
    effect: "write",
    body: NewMetadata,
    answers: { 200: WorkerMetadata },
  },
  getMetadata: {
    method: "GET",
    path: "/admin/workers/{name}/metadata",
    summary: "Reads the metadata of a worker.",
    permission: read,
    effect: "read",
    answers: { 200: WorkerMetadata },
  },
  clearMetadata: {
    method: "DELETE",
    path: "/admin/workers/{name}/metadata",
    summary: "Removes all metadata of a worker.",
    permission: manage,
    effect: "write",
    answers: { 204: { raw: null, meaning: "it has none" } },
  },
  removeMetadata: {
    method: "DELETE",
    path: "/admin/workers/{name}/metadata/{key}",
    summary: "Removes one key of a worker's metadata.",
    permission: manage,
    effect: "write",
    answers: { 204: { raw: null, meaning: "it does not have the key" } },
  },
  listServices: {
    method: "GET",
    path: "/admin/workers/{name}/services",
    summary: "Lists the local services that a worker offers, and those that its name was granted.",
    permission: read,
    effect: "read",
    answers: { 200: WorkerServices },
  },
  grantService: {
    method: "PUT",
    path: "/admin/workers/{name}/services/{service}",
    summary: "Grants a worker the local service that it offers, or will offer.",
    permission: manage,
    effect: "write",
    answers: { 204: { raw: null, meaning: "the service is granted" } },
  },
  revokeService: {
    method: "DELETE",
    path: "/admin/workers/{name}/services/{service}",
    summary: "Takes a service back from a worker.",
    permission: manage,
    effect: "write",
    answers: { 204: { raw: null, meaning: "the service is not granted" } },
  },
} as const satisfies Record<string, Route>;
