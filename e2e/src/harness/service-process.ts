import { CliProcess } from "./cli-process.ts";
import type { Engine } from "./engine.ts";

export interface ServiceOptions {
  /** The one it had before, or any free one. */
  readonly port?: string;
  /** What it passes requests on to, when that is not the server itself. */
  readonly serverUrl?: string;
}

export type ServiceProcess = CliProcess & { readonly url: string };

/** Starts the process that serves one service at an address of its own. */
export async function startService(
  engine: Engine,
  service: string,
  { port = "0", serverUrl = engine.url }: ServiceOptions = {},
): Promise<ServiceProcess> {
  const words = ["service", "start", service, "--port", port, "--host", "127.0.0.1"];
  const env = { ENGINE_SERVER_URL: serverUrl };
  const started = new CliProcess(words, { cwd: engine.home.path, env });
  const [, url = ""] = await started.printed(/ on (http:\S+),/);
  return Object.assign(started, { url });
}
