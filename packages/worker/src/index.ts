// The worker's public surface. Adding a line makes something public.

export { WORKER_FAILPOINTS } from "./failpoints.ts";
export { type HttpLinkOptions, httpLink } from "./link/http-link.ts";
export { OwnCredential, type OwnCredentialOptions } from "./link/own-credential.ts";
export type { TextLink } from "./link/text-link.ts";
export { type RunningWorker, startWorker, type WorkerStatus } from "./start-worker.ts";
export type { ValuesSource } from "./values-source.ts";
export type { WorkerOptions } from "./worker-options.ts";
export type { Log, SetTimer } from "./world.ts";
