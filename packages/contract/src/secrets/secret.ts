/** Values that are kept for tasks: secrets, which are sealed, and plain configuration values (SEC-4). */
import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";
import type { Json } from "../values/value.ts";

const SECRET_NAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$/;

/** Name of a secret or a configuration value. */
export const SecretName = z
  .string()
  .regex(
    SECRET_NAME_PATTERN,
    "must be a name: 1 to 128 letters, digits, '_', '.', '@' or '-', beginning with a letter, a digit or '_'",
  );

/** The JSON text of a value takes at most so many bytes. */
export const MAX_SECRET_BYTES: number = 64 * 1024;

const Value = AnyJson.refine((value) => value !== null, "must not be null").describe(
  "any JSON but null, at most 64 KiB as text",
) as z.ZodType<Json, Json>;

const description = z
  .string()
  .max(1024)
  .nullable()
  .optional()
  .describe("for readers; as it was when it is left out");
const if_version = z
  .int()
  .nonnegative()
  .optional()
  .describe("only where the version is still this one; 0: only where there is none");

/** `PUT /admin/secrets/{name}`. */
export const SecretValue = z.strictObject({
  value: Value,
  description,
  unmasked: z
    .boolean()
    .default(false)
    .describe("`true`: its values are shown wherever they turn up"),
  if_version,
});
export type SecretValue = z.infer<typeof SecretValue>;

/** `PUT /admin/configs/{name}`. */
export const ConfigValue = z.strictObject({ value: Value, description, if_version });
export type ConfigValue = z.infer<typeof ConfigValue>;

/** A configuration value without its value. */
export const ConfigRecord = z.object({
  name: z.string(),
  version: z.int().describe("grows with every value"),
  description: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  /** Subject of whoever wrote it; null without authorization. */
  updated_by: z.string().nullable(),
});
export type ConfigRecord = z.infer<typeof ConfigRecord>;

export const ShownConfig = ConfigRecord.extend({ value: AnyJson });
export type ShownConfig = z.infer<typeof ShownConfig>;

/** A secret without its value. */
export const SecretRecord = ConfigRecord.extend({
  unmasked: z.boolean(),
  masked_values: z.int().describe("how many of its values are masked in whatever is read"),
  key_id: z.string().describe("the key that it is sealed with"),
});
export type SecretRecord = z.infer<typeof SecretRecord>;

/** The only answer that has the value. */
export const ShownSecret = SecretRecord.extend({ value: AnyJson });
export type ShownSecret = z.infer<typeof ShownSecret>;

/** What is stored under which key (SEC-3). */
export const EncryptionStatus = z.object({
  primary: z.string().describe("id of the key that seals"),
  keys: z
    .array(z.object({ id: z.string(), rows: z.int().describe("data keys that it wraps") }))
    .describe("those of the ring, and any other that something is stored under"),
  rotating: z.boolean().describe("whether data keys are being wrapped anew"),
});
export type EncryptionStatus = z.infer<typeof EncryptionStatus>;
