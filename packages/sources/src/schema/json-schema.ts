import type { Json } from "@engine/contract";
import * as z from "zod";
import type { Place } from "../modules/source-module.ts";
import type { SchemaNotes } from "./schema-notes.ts";
import { isConvertible } from "./schema-size.ts";
import { NotExtracted, Unread } from "./unread.ts";

export type JsonSchema = Record<string, Json>;

/** What values are described: those that are given, or those that parsing them gives. */
export type Side = "input" | "output";

export interface Converted {
  readonly schema: JsonSchema;
  readonly bytes: number;
  /** Why some of its parts take any value. */
  readonly gaps: readonly Unread[];
}

const MAX_BYTES = 256 * 1024;

/**
 * The JSON Schema that zod's own conversion gives (EXE-63).
 *
 * @param sideOf Asked when all of the schema has been read.
 * @param place Where the schema is written, for gaps without a place of their own.
 * @throws NotExtracted when it is too large.
 */
export function toJsonSchema(
  schema: z.ZodType,
  sideOf: () => Side,
  { notes, place }: { readonly notes: SchemaNotes; readonly place: Place },
): Converted {
  const gaps = new Set<Unread>();
  const tooLarge = () => new NotExtracted(new Unread(place, "is larger than the engine reads"));
  if (!isConvertible(schema, notes)) throw tooLarge();
  const side = sideOf();
  const converted = z.toJSONSchema(schema, {
    io: side,
    target: "draft-2020-12",
    metadata: notes.metadata,
    unrepresentable: ({ zodSchema }) => {
      const at = notes.placeOf(zodSchema) ?? place;
      gaps.add(new Unread(at, "has no form in JSON Schema"));
      return "any";
    },
    override: ({ zodSchema, jsonSchema }) => {
      const gap = notes.gapOf(zodSchema);
      if (gap) gaps.add(gap);
      if (dropFlagged(patternsWithFlags(zodSchema), jsonSchema)) {
        const at = notes.placeOf(zodSchema) ?? place;
        gaps.add(new Unread(at, "has a pattern with flags, which JSON Schema lacks"));
      }
      if (side === "output") leaveOpen(zodSchema, jsonSchema);
    },
  });
  if (converted.$ref === "#") {
    throw new NotExtracted(new Unread(place, "stands for nothing but itself"));
  }
  const text = JSON.stringify(converted);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) throw tooLarge();
  return { schema: JSON.parse(text), bytes, gaps: [...gaps] };
}

/** Sources of regular expressions that mean another thing without their flags. */
function patternsWithFlags({ _zod: { def } }: z.core.$ZodType): ReadonlySet<string> {
  const checks = [{ _zod: { def } }, ...(def.checks ?? [])];
  const patterns = checks.flatMap(({ _zod }) => {
    return "pattern" in _zod.def && _zod.def.pattern instanceof RegExp ? [_zod.def.pattern] : [];
  });
  return new Set(patterns.filter(({ flags }) => /[ims]/.test(flags)).map(({ source }) => source));
}

function dropFlagged(sources: ReadonlySet<string>, json: z.core.JSONSchema.BaseSchema): boolean {
  if (sources.size === 0) return false;
  if (json.pattern !== undefined && sources.has(json.pattern)) delete json.pattern;
  const { allOf } = json;
  if (!allOf) return true;
  const kept = allOf.filter(({ pattern }) => pattern === undefined || !sources.has(pattern));
  if (kept.length > 0) json.allOf = kept;
  else delete json.allOf;
  return true;
}

/** A value with members that its type does not name is still of that type. */
function leaveOpen({ _zod: { def } }: z.core.$ZodType, json: z.core.JSONSchema.BaseSchema): void {
  if (def.type === "object" && !("catchall" in def && def.catchall)) {
    delete json.additionalProperties;
  }
}
