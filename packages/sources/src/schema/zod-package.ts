import * as z from "zod";
import * as mini from "zod/mini";
import type { PackageValue } from "./expression-values.ts";

const NAMESPACES: ReadonlyMap<string, object> = new Map<string, object>([
  ["zod", z],
  ["zod/v4", z],
  ["zod/mini", mini],
  ["zod/v4/mini", mini],
  ["zod/v4-mini", mini],
]);

/** The way to a value of zod from its exports, such as `iso.date`; undefined when it is not zod's. */
export function zodPath(value: PackageValue): string | undefined {
  if (!NAMESPACES.has(value.source)) return undefined;
  // `import * as z`, `import { z }` and `import z` all give the same things.
  const start = value.keys.findIndex((key) => key !== "z" && key !== "default");
  return value.keys.slice(start < 0 ? value.keys.length : start).join(".");
}

/** The real thing that `path` names in zod; undefined when this version has none. */
export function zodValue({ source }: PackageValue, path: string): unknown {
  return path.split(".").reduce<unknown>((at, key) => {
    return typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined;
  }, NAMESPACES.get(source));
}
