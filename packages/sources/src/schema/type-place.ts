import type { Place } from "../modules/source-module.ts";
import { NotExtracted, Unread } from "./unread.ts";

/** A type with what the type parameters in it stand for. */
export interface TypePlace extends Place {
  readonly parameters?: ReadonlyMap<string, TypePlace> | undefined;
}

const OTHER =
  "is none of the types that are read: primitives, literals, unions, arrays, tuples, objects, intersections of objects, Record, Partial, Required, Readonly, Pick, Omit, aliases and interfaces of them, and z.infer of a schema";

export function unreadable({ module, node }: TypePlace): NotExtracted {
  return new NotExtracted(new Unread({ module, node }, OTHER));
}
