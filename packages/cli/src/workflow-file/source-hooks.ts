import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { installSourceStacks } from "@engine/sdk/node";
import { type Loader, transformSync } from "esbuild";
import { spellings } from "./spellings.ts";

const LOADERS: Readonly<Record<string, Loader>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
};
/** The folder of the engine's own packages: their sources run as they are. */
const OWN = new URL("../../../", import.meta.url).href;

let installed = false;

/**
 * Lets this process import a user's TypeScript as registration would compile it: `@engine/*` and
 * `zod` come from this installation, so that there is one engine also where the file's folder has
 * its own; enums and imports without an extension work as they do in a bundle.
 */
export function installSourceHooks(): void {
  if (installed) return;
  installed = true;
  const contract = import.meta.resolve("@engine/contract");

  registerHooks({
    resolve(specifier, context, next) {
      if (!isUserModule(context.parentURL)) return next(specifier, context);
      if (specifier.startsWith("@engine/")) {
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
      if (specifier === "zod" || specifier.startsWith("zod/")) {
        return next(specifier, { ...context, parentURL: contract });
      }
      if (!/^\.{0,2}\//.test(specifier)) return next(specifier, context);
      return firstThatResolves(spellings(specifier), (spelling) => next(spelling, context));
    },
    load(url, context, next) {
      const loader = LOADERS[extname(new URL(url).pathname)];
      if (!loader || !isUserModule(url)) return next(url, context);
      const path = fileURLToPath(url);
      const { code } = transformSync(readFileSync(path, "utf8"), {
        loader,
        format: "esm",
        target: "node22",
        sourcefile: path,
        sourcemap: "inline",
        tsconfigRaw: { compilerOptions: { useDefineForClassFields: true } },
        logLevel: "silent",
      });
      return { format: "module", source: code, shortCircuit: true };
    },
  });
  installSourceStacks();
}

export function isUserModule(url: string | undefined): boolean {
  return (
    url?.startsWith("file:") === true && !url.startsWith(OWN) && !url.includes("/node_modules/")
  );
}

function firstThatResolves<T>(candidates: readonly string[], attempt: (candidate: string) => T): T {
  let first: unknown;
  for (const candidate of candidates) {
    try {
      return attempt(candidate);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}
