import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { WORKER_PROTOCOL, type WorkerRegistration } from "@engine/contract";
import type { WorkerOptions } from "../worker-options.ts";

/** What the worker says of itself (WRK-2): one process life under its name. */
export function registrationOf(
  { name, config, ids }: Pick<WorkerOptions, "name" | "config" | "ids">,
  { packages, resources }: Pick<WorkerRegistration, "packages" | "resources">,
): WorkerRegistration {
  return {
    name,
    instance_id: ids(),
    protocol: WORKER_PROTOCOL,
    engine_version: engineVersion(),
    host: hostname(),
    pid: process.pid,
    runtime: { os: process.platform, arch: process.arch, node: process.version },
    labels: config.labels,
    slots: config.slots,
    runners: config.runners,
    default_runner: config.default_runner,
    resources,
    packages,
    services: Object.keys(config.services),
  };
}

/** All packages have one version; this one's manifest lies above both sources and build. */
function engineVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
