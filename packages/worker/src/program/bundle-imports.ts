import { createRequire, isBuiltin, type ResolveHookContext, registerHooks } from "node:module";

/** A bundle imports a package that this worker's installation does not have. */
class PackageNotFound extends Error {
  override readonly name = "PackageNotFound";
  readonly code = "package_not_found";
}

/**
 * Bundles live in a folder of their own, but `@engine/*`, zod and requested packages come from the
 * worker's installation (EXE-59), never from what happens to lie around that folder.
 *
 * @param folder Address of the folder of the bundles, with a slash at its end.
 * @returns Takes the rule away again.
 */
export function resolveBundleImports(folder: string): () => void {
  // The contract brings zod: a worker that is not hoisted beside it finds it there.
  const installations = [import.meta.url, import.meta.resolve("@engine/contract")];
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (!context.parentURL?.startsWith(folder) || !isPackage(specifier)) {
        return next(specifier, context);
      }
      for (const parentURL of installations) {
        try {
          // Node resolves a `require` from the file that makes it, whatever parent is given here.
          if (!isRequired(context)) return next(specifier, { ...context, parentURL });
          return next(createRequire(parentURL).resolve(specifier), context);
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }
      throw new PackageNotFound(
        `it imports "${specifier}", which this worker does not have; install it beside the worker, and name it in requests.packages of every workflow of the file, so that only workers that have it get them`,
      );
    },
  });
  return () => hooks.deregister();
}

/** Whether it names a package: neither a path, nor an address, nor a module of Node. */
function isPackage(specifier: string): boolean {
  return !/^(\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i.test(specifier) && !isBuiltin(specifier);
}

/** By a package from the time before modules, which was bundled. */
function isRequired({ conditions }: ResolveHookContext): boolean {
  return conditions.includes("require");
}

function isNotFound(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
}
