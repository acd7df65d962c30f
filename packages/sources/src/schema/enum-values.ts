import type { TSEnumDeclaration } from "oxc-parser";
import { propertyName } from "../modules/binding.ts";

/** The object that an enum is at run time; undefined when a member is computed. */
export function enumValues({ body }: TSEnumDeclaration): Record<string, unknown> | undefined {
  const values: [string, string | number][] = [];
  let next: number | undefined = 0;
  for (const { id, initializer, computed } of body.members) {
    const name = computed ? undefined : propertyName(id);
    if (name === undefined || name === "__proto__") return undefined;
    const value: unknown =
      initializer === null ? next : initializer.type === "Literal" ? initializer.value : undefined;
    if (typeof value !== "string" && typeof value !== "number") return undefined;
    values.push([name, value]);
    next = typeof value === "number" ? value + 1 : undefined;
  }
  const back = values.filter(([, value]) => typeof value === "number");
  return Object.fromEntries([...values, ...back.map(([name, value]) => [String(value), name])]);
}
