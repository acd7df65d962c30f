import * as z from "zod";

/** Operations on objects that TypeScript has and that leave getters alone, so types may be recursive. */

type Shape = Record<string, z.ZodType>;

/** Shapes as they were made: zod reads all members at once, also those that are left out later. */
const shapes = new WeakMap<object, Shape>();

export function isObject(schema: unknown): schema is z.ZodObject {
  return schema instanceof z.ZodObject;
}

/** A copy of an object with members left out or changed; `member` is asked when they are needed. */
export function mapMembers(
  object: z.ZodObject,
  change: {
    readonly keep?: (key: string) => boolean;
    readonly member?: (schema: z.ZodType) => z.ZodType;
  },
): z.ZodObject {
  const { keep = () => true, member = (schema) => schema } = change;
  const shape: Shape = {};
  const own = shapeOf(object);
  for (const key of Object.keys(own)) {
    if (keep(key)) defineLazily(shape, key, () => member(own[key] as z.ZodType));
  }
  return objectOf(shape, object.def.catchall);
}

/** An object with the members of all of them; the later one decides, or `both` does. */
export function mergeMembers(
  objects: readonly z.ZodObject[],
  both: (a: z.ZodType, b: z.ZodType) => z.ZodType = (_, later) => later,
): z.ZodObject {
  const shape: Shape = {};
  let rest: z.core.$ZodType | undefined;
  for (const object of objects) {
    const own = shapeOf(object);
    for (const key of Object.keys(own)) {
      const earlier = Object.getOwnPropertyDescriptor(shape, key)?.get;
      const later = () => own[key] as z.ZodType;
      defineLazily(shape, key, earlier ? () => both(earlier.call(shape), later()) : later);
    }
    rest = object.def.catchall ?? rest;
  }
  return objectOf(shape, rest);
}

/** @param rest What members may be that the shape does not name; undefined: anything. */
export function objectOf(shape: Shape, rest?: z.core.$ZodType): z.ZodObject {
  const object = rest === undefined ? z.object(shape) : z.object(shape).catchall(rest);
  shapes.set(object, shape);
  return object;
}

function shapeOf(object: z.ZodObject): Shape {
  return shapes.get(object) ?? (object.def.shape as Shape);
}

/** What a member is when it has to be there. */
export function requiredMember(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
}

export function optionalMember(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional ? schema : schema.optional();
}

export function defineLazily(shape: Shape, key: string, get: () => z.ZodType): void {
  Object.defineProperty(shape, key, { enumerable: true, configurable: true, get });
}
