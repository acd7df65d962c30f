import { randomUUID } from "node:crypto";
import { createUuidV7, WORKER_PROTOCOL, type WorkerRegistration } from "@engine/contract";
import type { Asked, GuardedServer } from "./guarded-server.ts";

const nextId = createUuidV7(Date.now, randomUUID);

/** A process that registers a name with whatever it shows. */
export function joining(
  { ask }: Pick<GuardedServer, "ask">,
  name: string,
  token?: string,
  changes: Partial<WorkerRegistration> = {},
): Promise<Asked> {
  return ask("/workers/register", token, {
    name,
    instance_id: nextId(),
    protocol: WORKER_PROTOCOL,
    engine_version: "0.1.0",
    host: "here",
    pid: 1,
    runtime: { os: "linux", arch: "x64", node: "24" },
    ...changes,
  });
}
