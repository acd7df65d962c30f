import childProcess from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import fsPromises from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import os from "node:os";
import timers from "node:timers";
import timerPromises from "node:timers/promises";
import zlib from "node:zlib";

/** Functions that a body may call and no log holds. What only computes, at once, is none of them. */
export interface UnrecordedCalls {
  /** The module they belong to, as the user names it; undefined for globals. */
  readonly of?: string;
  readonly holders: readonly object[];
  readonly keys: readonly string[];
  /** What a replay may see otherwise: what the call gives, or only the moment when it does. */
  readonly differs: "value" | "moment";
  readonly fix: string;
  /** They open connections, whose timers must not become sleeps of the execution. */
  readonly connects?: boolean;
  /** They are called with `new`. */
  readonly areClasses?: boolean;
}

const IN_A_TASK = "move it into a task, whose result is recorded and replayed";
const RANDOM = `use crypto.randomUUID() or Math.random(), which replay as they were, or ${IN_A_TASK}`;
const CLOCK = "use Date.now(), which replays as it was";
const TIMER = "use setTimeout(), which is a durable timer in a body";
const SYNC = `use its form with Sync at the end, which answers at once, or ${IN_A_TASK}`;
const HASH = `use createHash() or createHmac() of node:crypto, which answer at once, or ${IN_A_TASK}`;
const COMPILE = "do it where the module loads, outside of the body";

/** Of `node:fs`: with a callback, at once, and as a promise. */
const FILES = [
  ...["access", "appendFile", "chmod", "chown", "copyFile", "cp", "createReadStream"],
  ...["createWriteStream", "exists", "glob", "link", "lstat", "mkdir", "mkdtemp", "open"],
  ...["opendir", "readFile", "readdir", "readlink", "realpath", "rename", "rm", "rmdir", "stat"],
  ...["statfs", "symlink", "truncate", "unlink", "utimes", "watch", "writeFile"],
];
/** Without the functions that tell the kind of system: libraries ask for it, and workers are alike. */
const MACHINE = [
  ...["availableParallelism", "cpus", "freemem", "homedir", "hostname", "loadavg"],
  ...["networkInterfaces", "tmpdir", "totalmem", "uptime", "userInfo"],
];
const PROGRAMS = ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"];
const CHANCE = [
  ...["generateKey", "generateKeyPair", "generateKeyPairSync", "generateKeySync"],
  ...["generatePrime", "generatePrimeSync", "getRandomValues", "randomBytes", "randomFill"],
  ...["randomFillSync", "randomInt", "randomUUIDv7"],
];
/** Those that have a form with Sync at the end; the others only make streams. */
const COMPRESSIONS = Object.keys(zlib).filter((key) => Object.hasOwn(zlib, `${key}Sync`));

const value = { differs: "value", fix: IN_A_TASK } as const;
const chance = { of: "crypto", differs: "value", fix: RANDOM } as const;
const clock = { differs: "value", fix: CLOCK } as const;
const moment = { differs: "moment", fix: TIMER } as const;
const computed = { differs: "moment", fix: SYNC } as const;
// No part of ECMAScript, so that its types know nothing of it.
const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: object };
const subtle = kindOf(crypto.webcrypto.subtle);
const webCrypto = kindOf(crypto.webcrypto);

export const UNRECORDED_CALLS: readonly UnrecordedCalls[] = [
  { ...value, holders: [globalThis], keys: ["fetch"], connects: true },
  { ...value, of: "http", holders: [http], keys: ["get", "request"] },
  { ...value, of: "https", holders: [https], keys: ["get", "request"] },
  { ...value, of: "fs", holders: [fs], keys: [...FILES, ...FILES.map((key) => `${key}Sync`)] },
  { ...value, of: "fs.promises", holders: [fsPromises], keys: FILES },
  { ...value, of: "child_process", holders: [childProcess], keys: PROGRAMS },
  { ...value, of: "os", holders: [os], keys: MACHINE },
  { ...value, of: "process", holders: [process], keys: ["cpuUsage", "memoryUsage"] },

  // The inner one first: the outer one takes its properties along.
  { ...clock, of: "process.hrtime", holders: [process.hrtime], keys: ["bigint"] },
  { ...clock, of: "process", holders: [process], keys: ["hrtime", "uptime"] },
  { ...clock, of: "performance", holders: [kindOf(performance)], keys: ["now"] },

  { ...chance, holders: [webCrypto], keys: ["getRandomValues"] },
  { ...chance, holders: [crypto], keys: CHANCE },

  { ...moment, holders: [globalThis, timers], keys: ["setImmediate"] },
  { ...moment, holders: [timerPromises], keys: ["setImmediate"] },
  { ...moment, of: "scheduler", holders: [kindOf(timerPromises.scheduler)], keys: ["yield"] },
  { ...moment, of: "AbortSignal", holders: [AbortSignal], keys: ["timeout"] },

  { ...computed, of: "crypto", holders: [crypto], keys: ["argon2", "hkdf", "pbkdf2", "scrypt"] },
  { ...computed, of: "zlib", holders: [zlib], keys: COMPRESSIONS },
  { ...computed, of: "crypto.subtle", holders: [subtle], keys: methodsOf(subtle), fix: HASH },
  {
    ...computed,
    holders: [globalThis],
    keys: ["CompressionStream", "DecompressionStream"],
    fix: `use gzipSync() of node:zlib and its kin, which answer at once, or ${IN_A_TASK}`,
    areClasses: true,
  },
  {
    ...computed,
    of: "WebAssembly",
    holders: [WebAssembly],
    keys: ["compile", "instantiate"],
    fix: COMPILE,
  },
];

/** The prototype, where the methods of the web's objects are. */
function kindOf(object: object): object {
  return Object.getPrototypeOf(object) as object;
}

function methodsOf(kind: object): string[] {
  return Object.getOwnPropertyNames(kind).filter((key) => key !== "constructor");
}
