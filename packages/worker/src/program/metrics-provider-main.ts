/**
 * The program of the thread that a metrics provider runs on (WMD-5). It imports nothing of the engine
 * but types: it is started anew whenever the provider hangs.
 */
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type {
  FromProvider,
  ProviderEntry,
  ProviderThreadData,
} from "../metrics/provider-messages.ts";

/** Far more keys than count: the worker names those that it drops. */
const MOST_ENTRIES = 256;
/** Of a key; a longer one is dropped whatever follows. */
const SHOWN_KEY = 100;

const { path, name } = workerData as ProviderThreadData;
const port = parentPort;
if (!port) throw new Error("this program is started as a thread of a worker");
const say = (message: FromProvider): void => port.postMessage(message);

try {
  const collect = await loaded();
  port.on("message", () => void collected(collect).then(say));
  say({ kind: "ready" });
} catch (error) {
  say({ kind: "unusable", why: textOf(error) });
}

async function loaded(): Promise<() => unknown> {
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  const found = module[name];
  if (typeof found === "function") return () => (found as () => unknown)();
  const exports = Object.keys(module).join(", ") || "nothing";
  throw new Error(
    `expected its export "${name}" to be a function; got ${typeof found} (it exports: ${exports})`,
  );
}

async function collected(collect: () => unknown): Promise<FromProvider> {
  try {
    const given = await collect();
    if (typeof given !== "object" || given === null || Symbol.iterator in given) {
      return { kind: "failed", why: `expected a record of numbers; got ${kindOf(given)}` };
    }
    const all = Object.entries(given);
    const entries = all.slice(0, MOST_ENTRIES).map(sendable);
    return { kind: "values", entries, beyond: all.length - entries.length };
  } catch (error) {
    return { kind: "failed", why: textOf(error) };
  }
}

/** What is no number is only told by its kind: it may be large, or nothing that can be sent. */
function sendable([key, value]: ProviderEntry): ProviderEntry {
  const isSmall =
    value === null || ["number", "boolean", "bigint", "undefined"].includes(typeof value);
  return [key.slice(0, SHOWN_KEY), isSmall ? value : typeof value === "string" ? "" : {}];
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "object" ? "a list" : typeof value;
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
