import { engineFailure } from "@engine/contract";
import { ServiceNotGrantedError } from "../../task-error.ts";
import type { LocalServices } from "../port.ts";

const NONE: LocalServices = { offered: {}, granted: [] };

/** Where the socket of a service is, if task code may use it now (WMD-3). */
export function socketPath(services: LocalServices = NONE, service: string): string {
  const { offered, granted } = services;
  const path = Object.hasOwn(offered, service) ? offered[service] : undefined;
  if (path === undefined) {
    const names = Object.keys(offered).sort().join(", ") || "none";
    throw refused(
      { service, reason: "not_offered" },
      `this worker does not offer the service ${service} (it offers: ${names}); give it a socket as engine.workers.services, then: engine worker service grant WORKER ${service}`,
    );
  }
  if (granted.includes(service)) return path;
  throw refused(
    { service, reason: "not_granted" },
    `the service ${service} is not granted to this worker; an operator grants it: engine worker service grant WORKER ${service}`,
  );
}

function refused(details: Readonly<Record<string, string>>, message: string) {
  return new ServiceNotGrantedError(engineFailure("ServiceNotGrantedError", message, { details }));
}
