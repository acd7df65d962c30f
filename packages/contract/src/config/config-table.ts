import * as z from "zod";

export const seconds = (initial: number, min = 0): z.ZodDefault<z.ZodNumber> =>
  z.number().min(min).default(initial);
export const count = (initial: number, min = 0): z.ZodDefault<z.ZodInt> =>
  z.int().min(min).default(initial);

type Key = z.ZodOptional | z.ZodDefault | z.ZodPrefault;

/** A table of keys, each of which may be left out. */
export function table<Keys extends Readonly<Record<string, Key>>>(
  keys: Keys,
): z.ZodPrefault<z.ZodObject<Keys, z.core.$strict>> {
  return z.strictObject(keys).prefault({} as z.input<z.ZodObject<Keys, z.core.$strict>>);
}
