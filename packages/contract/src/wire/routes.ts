import { auditRoutes } from "../routes/audit.ts";
import { authRoutes } from "../routes/auth.ts";
import { basicRoutes } from "../routes/basic.ts";
import { catalogRoutes } from "../routes/catalog.ts";
import { configRoutes } from "../routes/configs.ts";
import { encryptionRoutes } from "../routes/encryption.ts";
import { executionRoutes } from "../routes/executions.ts";
import { fleetRoutes } from "../routes/fleet.ts";
import { hookRoutes } from "../routes/hooks.ts";
import { joinTokenRoutes } from "../routes/join-tokens.ts";
import { limitRoutes } from "../routes/limits.ts";
import { principalRoutes } from "../routes/principals.ts";
import { roleRoutes } from "../routes/roles.ts";
import { scheduleRoutes } from "../routes/schedules.ts";
import { secretRoutes } from "../routes/secrets.ts";
import { serviceRoutes } from "../routes/services.ts";
import { systemRoutes } from "../routes/system.ts";
import { workerAttributeRoutes } from "../routes/worker-attributes.ts";
import { workerRoutes } from "../routes/workers.ts";
import type { Route } from "./route.ts";

/**
 * The wire, as data. The server binds this table, the client is derived from it, and the docs, the
 * OpenAPI document and the permission test are printed from it. `basic` comes last: fixed paths win.
 */
export const routes = {
  system: systemRoutes,
  auth: authRoutes,
  catalog: catalogRoutes,
  executions: executionRoutes,
  services: serviceRoutes,
  schedules: scheduleRoutes,
  hooks: hookRoutes,
  fleet: fleetRoutes,
  workerAttributes: workerAttributeRoutes,
  limits: limitRoutes,
  joinTokens: joinTokenRoutes,
  workers: workerRoutes,
  roles: roleRoutes,
  principals: principalRoutes,
  secrets: secretRoutes,
  configs: configRoutes,
  encryption: encryptionRoutes,
  audit: auditRoutes,
  basic: basicRoutes,
} as const satisfies Record<string, Record<string, Route>>;

/** What each group is about, as pages and the document call it. */
export const groupTitles: Readonly<Record<keyof typeof routes, string>> = {
  system: "System",
  auth: "Access",
  catalog: "Workflows",
  executions: "Executions",
  services: "Services",
  schedules: "Schedules",
  hooks: "Hooks",
  fleet: "Workers",
  workerAttributes: "Metadata and services of workers",
  limits: "Limits",
  joinTokens: "Join tokens",
  workers: "Worker protocol",
  roles: "Roles",
  principals: "Principals",
  secrets: "Secrets",
  configs: "Configuration values",
  encryption: "Encryption",
  audit: "Audit log",
  basic: "Basic interface",
};
