#!/usr/bin/env node
// Plain JavaScript that any Node since 16 parses: it looks at the version first, so that an old one
// gets a sentence instead of a syntax error, and only then loads the program.
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const MINIMUM = [22, 18];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
  process.stderr.write(
    `error: engine needs Node ${MINIMUM.join(".")} or newer; this is ${process.version} (${process.execPath}). ` +
      "Run it as `npx engine …` inside a project that has it, or install Node 24.\n",
  );
  process.exit(1);
}

const { enableCompileCache, registerHooks } = await import("node:module");
const here = realpathSync(fileURLToPath(import.meta.url));
const built = new URL("../dist/main.js", pathToFileURL(here));
const installed = /[\\/]node_modules[\\/]/.test(here);

// Compiled code is kept beside the code, where only those write who may change the code itself: a
// start is a third shorter. Threads and child processes hear of it by the variable, which is Node's
// own; NODE_DISABLE_COMPILE_CACHE=1 turns it off, and so does a folder that cannot be written.
if (!process.env.NODE_COMPILE_CACHE && !process.env.NODE_DISABLE_COMPILE_CACHE) {
  const above = installed
    ? here.slice(0, here.lastIndexOf("node_modules"))
    : dirname(dirname(dirname(dirname(here))));
  const folder = join(above, "node_modules", ".cache", "engine");
  if (enableCompileCache(folder).directory) process.env.NODE_COMPILE_CACHE = folder;
}

if (installed && existsSync(built)) {
  await import(built.href);
} else {
  // A checkout: run the sources of every package. In this process, so that pids and signals are
  // those of the command itself; threads get the condition from the worker.
  registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith("@engine/")) return next(specifier, context);
      return next(specifier, { ...context, conditions: ["@engine/source", ...context.conditions] });
    },
  });
  await import(new URL("../src/main.ts", pathToFileURL(here)).href);
}
