import { nearest, ValueRef } from "@engine/contract";
import type { Finding } from "../modules/source-issues.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { Made } from "./evaluate.ts";

/** Warnings for each `input(path)` of a workflow's options whose path its input schema does not have (AFF-8). */
export function unknownInputPaths(made: readonly Made[], schema: JsonSchema | null): Finding[] {
  if (schema === null) return [];
  return made.flatMap(({ value, place, path: option }): Finding[] => {
    const ref = ValueRef.safeParse(value).data;
    if (ref?.kind !== "input") return [];
    const names = ref.path.split(".");
    if (mayHave(schema, names, { root: schema, steps: MOST_STEPS })) return [];
    const near = names.length === 1 ? nearest(ref.path, namesOf(schema)) : undefined;
    const hint = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
    const message = `input(${JSON.stringify(ref.path)}) reads what no input has that the input schema describes${hint}`;
    return [{ rule: "unknown_input_path", message, place, path: option }];
  });
}

/** Steps for one path; a schema that takes more is not looked at to its end, and no warning is given. */
const MOST_STEPS = 1_000;

interface Looking {
  readonly root: JsonSchema;
  steps: number;
}

/** Whether some value that a schema describes has a member at a path. */
function mayHave(schema: unknown, names: readonly string[], looking: Looking): boolean {
  const [name, ...rest] = names;
  if (schema === false) return false;
  if (name === undefined || looking.steps-- <= 0) return true;
  if (typeof schema !== "object" || schema === null) return true;
  const { $ref, anyOf, oneOf, allOf, type, properties } = schema as JsonSchema;
  const { additionalProperties, patternProperties } = schema as JsonSchema;
  if (typeof $ref === "string" && !mayHave(referred(looking.root, $ref), names, looking)) {
    return false;
  }
  for (const branches of [anyOf, oneOf]) {
    const isNowhere =
      Array.isArray(branches) && !branches.some((branch) => mayHave(branch, names, looking));
    if (isNowhere) return false;
  }
  if (type !== undefined && ![type].flat().includes("object")) return false;
  if (typeof properties !== "object" || properties === null) return true;
  if (Object.hasOwn(properties, name)) {
    return mayHave((properties as JsonSchema)[name], rest, looking);
  }
  // Of parts that add up each knows its own members only.
  if (allOf !== undefined || patternProperties !== undefined) return true;
  return additionalProperties !== undefined && mayHave(additionalProperties, rest, looking);
}

/** `#/$defs/name` or `#`; anything for what is not found. */
function referred(root: JsonSchema, ref: string): unknown {
  let at: unknown = root;
  for (const part of ref.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null ? (at as JsonSchema)[key] : undefined;
  }
  return at ?? true;
}

function namesOf({ properties }: JsonSchema): string[] {
  return Object.keys(properties ?? {});
}
