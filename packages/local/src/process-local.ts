import { databaseUrl, EngineError } from "@engine/contract";
import { maskEnvelopes } from "@engine/redaction";
import type { AnyWorkflow, LocalRunOptions, RunResult, Workflow } from "@engine/sdk";
import { findWorkflow } from "@engine/sdk/node";
import { openStore, openValueStore, readKeyRing } from "@engine/store";
import { loadConfig } from "./load-config.ts";
import { type Local, openLocal } from "./local.ts";
import { StoredMasks } from "./stored-masks.ts";
import { storedSettings } from "./stored-settings.ts";

let opened: Promise<Local> | undefined;

/**
 * The local engine of this process, on the configured database. Opened at the first run, once; a
 * failure is not remembered, so that a corrected configuration is seen.
 */
function processLocal(): Promise<Local> {
  opened ??= openFromConfig().catch((error: unknown) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

async function openFromConfig(): Promise<Local> {
  const { config } = loadConfig({ cwd: process.cwd(), env: process.env });
  const values = await openValueStore(config);
  const { synchronous } = config.store;
  const store = await openStore(databaseUrl(config), { synchronous, hooks: config.hooks });
  const { ring, problems } = readKeyRing({
    encryption: config.security.encryption,
    home: config.home,
    kind: store.kind,
    warn: (message) => process.emitWarning(message),
  });
  if (problems.length > 0) {
    await store.close();
    throw new EngineError("invalid_input", problems.join("\n"));
  }
  const monotonic = () => performance.now();
  const isOn = config.security.redaction.enabled;
  const masks = new StoredMasks({ store, ring, isOn, monotonic });
  maskEnvelopes({ outbox: store.outbox, masks, monotonic });
  const settings = storedSettings(store, ring);
  const { executions: limits, workers } = config;
  const { services } = workers;
  return openLocal({ store, values, limits, findWorkflow, ring, settings, services });
}

/**
 * Runs a workflow in this process on the configured database. Resolves when it has ended or
 * paused; a workflow that fails does not reject, the result says so. With `executionId` it
 * continues that execution, and `input` is what its pause returns.
 */
export function run<Input, Output>(
  workflow: Workflow<Input, Output>,
  input?: Input,
): Promise<RunResult<Output>>;
export function run<Input, Output>(
  workflow: Workflow<Input, Output>,
  input: unknown,
  options: LocalRunOptions,
): Promise<RunResult<Output>>;
export async function run(
  workflow: AnyWorkflow,
  input?: unknown,
  options: LocalRunOptions = {},
): Promise<RunResult> {
  return (await processLocal()).run(workflow, input, options);
}
