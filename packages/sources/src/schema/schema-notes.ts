import * as z from "zod";
import type { Place } from "../modules/source-module.ts";
import type { Unread } from "./unread.ts";

/** What is known of schemas beside themselves, as long as the files of one registration are read. */
export class SchemaNotes {
  /** Names and descriptions; not zod's global registry, which would keep those with an id for ever. */
  readonly metadata: z.core.$ZodRegistry<Record<string, unknown>> = z.registry();
  readonly #places = new WeakMap<object, Place>();
  readonly #gaps = new WeakMap<object, Unread>();

  placeOf(schema: object): Place | undefined {
    return this.#places.get(schema);
  }

  /** The part that is missing from a schema, which therefore takes more than its author wrote. */
  gapOf(schema: object): Unread | undefined {
    return this.#gaps.get(schema);
  }

  put<T extends object>(schema: T, place: Place): T {
    this.#places.set(schema, place);
    return schema;
  }

  /** Stands for a schema that cannot be read: any value, or none. */
  anyFor(part: Unread): z.ZodType {
    return this.leaveOut(z.any().optional(), part);
  }

  leaveOut<T extends object>(schema: T, part: Unread): T {
    this.#gaps.set(schema, part);
    return schema;
  }
}

export function isSchema(value: unknown): value is z.ZodType {
  return value instanceof z.core.$ZodType;
}
