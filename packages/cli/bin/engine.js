#!/usr/bin/env node
// Plain JavaScript that any Node since 16 parses: it looks at the version first, so that an old one
// gets a sentence instead of a syntax error, and only then loads the program.
import { existsSync, realpathSync } from "node:fs";
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

const here = realpathSync(fileURLToPath(import.meta.url));
const built = new URL("../dist/main.js", pathToFileURL(here));
const installed = /[\\/]node_modules[\\/]/.test(here);

if (installed && existsSync(built)) {
  await import(built.href);
} else {
  // A checkout: run the sources of every package. In this process, so that pids and signals are
  // those of the command itself; threads get the condition from the worker.
  const { registerHooks } = await import("node:module");
  registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith("@engine/")) return next(specifier, context);
      return next(specifier, { ...context, conditions: ["@engine/source", ...context.conditions] });
    },
  });
  await import(new URL("../src/main.ts", pathToFileURL(here)).href);
}
