import { databaseUrl } from "@engine/contract";
import { findWorkflow } from "@engine/sdk/node";
import { openStore, openValueStore } from "@engine/store";
import { loadConfig } from "./load-config.ts";
import { type Local, openLocal } from "./local.ts";

let opened: Promise<Local> | undefined;

/**
 * The local engine of this process, on the configured database. Opened at the first run, once; a
 * failure is not remembered, so that a corrected configuration is seen.
 */
export function processLocal(): Promise<Local> {
  opened ??= openFromConfig().catch((error: unknown) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

async function openFromConfig(): Promise<Local> {
  const { config } = loadConfig({ cwd: process.cwd(), env: process.env });
  const values = await openValueStore(config);
  const store = await openStore(databaseUrl(config), { synchronous: config.store.synchronous });
  return openLocal({ store, values, limits: config.executions, findWorkflow });
}
