import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";
import { identity, open } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";

const Health = z.object({
  status: z.enum(["healthy", "unhealthy"]),
  database: z.string(),
  version: z.string(),
});
const Ready = z.object({ status: z.enum(["ready", "not_ready"]) });

/** Whether a server is well does not depend on what is masked (RED-5): neither answer holds a value. */
export const systemRoutes = {
  health: {
    method: "GET",
    path: "/health",
    summary: "Says whether the server and its database answer.",
    permission: open,
    effect: "read",
    redact: false,
    answers: { 200: Health, 503: Health },
  },
  ready: {
    method: "GET",
    path: "/ready",
    summary:
      "Says whether the server takes work; 503 while it starts or stops, and while its database can write nothing.",
    permission: open,
    effect: "read",
    redact: false,
    answers: { 200: Ready, 503: Ready },
  },
  openapi: {
    method: "GET",
    path: "/openapi.json",
    summary: "This interface as an OpenAPI 3.1 document.",
    permission: identity,
    effect: "read",
    answers: { 200: z.record(z.string(), AnyJson) },
  },
} as const satisfies Record<string, Route>;
