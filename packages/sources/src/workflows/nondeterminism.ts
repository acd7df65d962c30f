import { isBuiltin } from "node:module";
import type { Node } from "oxc-parser";
import { resolve, type Target } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { Finding } from "../modules/source-issues.ts";
import type { SourceModule } from "../modules/source-module.ts";

const RECORD = "do it in a task, whose result is recorded and replayed";

/** The warning about a call in a body that may answer differently when the body is replayed (EXE-65). */
export function nondeterministicCall(
  graph: SourceGraph,
  module: SourceModule,
  node: Node,
): Finding | undefined {
  const target = calledTarget(graph, module, node);
  if (target === undefined) return undefined;
  const advice = adviceFor(target, node.type === "MemberExpression");
  if (advice === undefined) return undefined;
  return {
    rule: "nondeterministic_call",
    message: `${advice.what} may answer differently when the body is replayed; ${advice.fix}`,
    place: { module, node },
    path: "body",
  };
}

function calledTarget(graph: SourceGraph, module: SourceModule, node: Node): Target | undefined {
  if (node.type === "CallExpression" || node.type === "NewExpression") {
    return resolve(graph, { module, node: node.callee });
  }
  return node.type === "MemberExpression" ? resolve(graph, { module, node }) : undefined;
}

interface Advice {
  readonly what: string;
  readonly fix: string;
}

function adviceFor(target: Target, isRead: boolean): Advice | undefined {
  if (target.kind === "package") return adviceForModule(target.source, target.keys, isRead);
  if (target.kind !== "global") return undefined;
  const [name, ...keys] =
    target.name === "globalThis" ? target.keys : [target.name, ...target.keys];
  if (name === "process" && keys.length > 0) {
    return { what: `process.${keys.join(".")}`, fix: `pass it as input, or ${RECORD}` };
  }
  const what = [name, ...keys].join(".");
  if (isRead) return undefined;
  const fix = what.startsWith("crypto.subtle.") ? AT_ONCE : GLOBAL_CALLS.get(what);
  return fix === undefined ? undefined : { what, fix };
}

const RANDOM = `use crypto.randomUUID or Math.random, which replay as they were, or ${RECORD}`;
const TIMER = "use setTimeout, which is a durable timer in a body";
const AT_ONCE = `use what node:crypto and node:zlib have that answers at once, such as createHash or gzipSync, or ${RECORD}`;

/** The engine replaces `Date`, `Math.random`, `crypto.randomUUID`, `setTimeout` and `setInterval`. */
const GLOBAL_CALLS: ReadonlyMap<string, string> = new Map([
  ["fetch", RECORD],
  ["performance.now", "use Date.now, which replays as it was"],
  ["crypto.getRandomValues", RANDOM],
  ["setImmediate", TIMER],
  ["AbortSignal.timeout", TIMER],
  ["CompressionStream", AT_ONCE],
  ["DecompressionStream", AT_ONCE],
  ["WebAssembly.compile", "do it where the module loads, outside of the body"],
  ["WebAssembly.instantiate", "do it where the module loads, outside of the body"],
  ["WebSocket", RECORD],
]);

/** Modules of Node that only compute, or that the engine makes safe to replay. */
const SAFE_MODULES: ReadonlySet<string> = new Set([
  ...["assert", "assert/strict", "buffer", "events", "path", "path/posix", "path/win32"],
  ...["querystring", "string_decoder", "timers", "timers/promises", "url", "util", "util/types"],
]);

/** What the rest of `node:crypto` gives is random, comes late, or reads keys. */
const SAFE_CRYPTO: ReadonlySet<string> = new Set([
  ...["createHash", "createHmac", "hash", "hkdfSync", "pbkdf2Sync", "randomUUID", "scryptSync"],
  "timingSafeEqual",
]);

function adviceForModule(
  source: string,
  keys: readonly string[],
  isRead: boolean,
): Advice | undefined {
  if (!isBuiltin(source)) return undefined;
  const module = source.replace(/^node:/, "");
  if (isRead && module !== "process") return undefined;
  const [name = "", method] = keys[0] === "default" ? keys.slice(1) : keys;
  const isTimers = module === "timers" || module === "timers/promises";
  if (isTimers && name === "setImmediate") return { what: name, fix: TIMER };
  if (isTimers && method === "yield") return { what: "scheduler.yield", fix: TIMER };
  if (module === "crypto" && SAFE_CRYPTO.has(name)) return undefined;
  if (module === "zlib") return name.endsWith("Sync") ? undefined : { what: name, fix: AT_ONCE };
  if (SAFE_MODULES.has(module)) return undefined;
  return { what: `${source} in a workflow body`, fix: RECORD };
}
