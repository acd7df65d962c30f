import { type Config, parseMetricsProvider } from "@engine/contract";
import { threadEnvironment } from "../runners/runner-environment.ts";
import type { World } from "../world.ts";
import { CustomMetrics } from "./custom-metrics.ts";
import { ProviderCalls } from "./provider-calls.ts";

interface Options extends Pick<World, "setTimer" | "log" | "life"> {
  readonly config: Config["workers"];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Loads the metrics provider of the configuration; undefined when there is none.
 *
 * @throws EngineError `invalid_input` where it cannot be used: the worker then does not start.
 */
export async function openCustomMetrics({
  config,
  env,
  ...world
}: Options): Promise<CustomMetrics | undefined> {
  const provider = parseMetricsProvider(config.metrics_provider);
  if (!provider) return undefined;
  const calls = new ProviderCalls({ ...world, provider, env: threadEnvironment(env, config) });
  await calls.open();
  return new CustomMetrics({
    ...world,
    intervalMs: config.metrics_interval * 1000,
    collect: () => calls.collect(),
  });
}
