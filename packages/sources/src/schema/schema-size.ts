import { isPlainObject } from "./expression-values.ts";
import { isSchema, type SchemaNotes } from "./schema-notes.ts";

/** What a schema will be as JSON, where a shared part is written out each time. */
interface Size {
  readonly parts: number;
  readonly depth: number;
}

const MAX_PARTS = 20_000;
const MAX_DEPTH = 100;
const MAX_SCHEMAS = 3_000;
const LEAF: Size = { parts: 1, depth: 1 };
/** Characters of text that count as one part. */
const TEXT = 50;

/**
 * Whether a schema is small enough to be converted. Schemas share parts, so a few lines can stand
 * for more JSON than fits in memory; this is counted without writing any of it.
 */
export function isConvertible(schema: object, { metadata }: SchemaNotes): boolean {
  const sizes = new Map<object, Size>();
  const { parts, depth } = sizeOf(schema);
  return parts <= MAX_PARTS && depth <= MAX_DEPTH && sizes.size <= MAX_SCHEMAS;

  function sizeOf(value: unknown): Size {
    if (typeof value === "string") return { parts: 1 + value.length / TEXT, depth: 1 };
    if (value instanceof RegExp) return sizeOf(value.source);
    if (typeof value !== "object" || value === null) return LEAF;
    if (Array.isArray(value)) return sum(value);
    if (isPlainObject(value)) return sum([...Object.keys(value), ...Object.values(value)]);
    return "_zod" in value ? sizeOfZod(value) : LEAF;
  }

  function sizeOfZod(value: object & { _zod: unknown }): Size {
    const known = sizes.get(value);
    if (known) return known;
    // A schema within itself is a reference.
    sizes.set(value, LEAF);
    if (sizes.size > MAX_SCHEMAS) return LEAF;
    const { def, innerType } = value._zod as { def: object; innerType?: unknown };
    const isLazy = "type" in def && def.type === "lazy";
    const size = sum([
      ...(isLazy ? [innerType] : Object.values(def)),
      isSchema(value) ? metadata.get(value) : undefined,
    ]);
    sizes.set(value, size);
    return size;
  }

  function sum(values: readonly unknown[]): Size {
    const all = values.map(sizeOf);
    return {
      parts: all.reduce((total, { parts }) => total + parts, 1),
      depth: 1 + all.reduce((deepest, { depth }) => Math.max(deepest, depth), 0),
    };
  }
}
