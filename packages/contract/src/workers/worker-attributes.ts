/** What operators say of a worker's name (WMD-1, WMD-3): rules of its changes, pure. */
import * as z from "zod";
import { invalidField } from "../errors/invalid-input.ts";
import { ATTRIBUTE_KEY, KEY_LENGTH, SERVICE_PREFIX } from "../routing/attribute-keys.ts";
import { PlainText } from "./worker.ts";

const MOST_KEYS = 64;
const MOST_KEYS_RULE = `at most ${MOST_KEYS} keys of metadata`;

const MetadataKey = z
  .string()
  .max(KEY_LENGTH.meta)
  .regex(ATTRIBUTE_KEY, "must be letters, digits, '.', '_' or '-', not at its ends");

const PlainMetadata = z
  .record(MetadataKey, z.union([PlainText, z.number()]))
  .refine((metadata) => Object.keys(metadata).length <= MOST_KEYS, MOST_KEYS_RULE);

/** Metadata of a worker: text of up to 256 characters, or finite numbers, under up to 64 keys. */
export const Metadata = z.preprocess((given, context) => {
  // A record leaves this key out without a word.
  if (typeof given === "object" && given !== null && Object.hasOwn(given, "__proto__")) {
    context.addIssue({ code: "custom", path: ["__proto__"], message: "is not a key" });
  }
  return given;
}, PlainMetadata);
export type Metadata = Readonly<Record<string, string | number>>;

/** `PUT /admin/workers/{name}/metadata`. */
export const NewMetadata = z.strictObject({
  metadata: Metadata.describe("text or numbers, by key"),
  replace: z.boolean().default(false).describe("in place of what there is; else they are merged"),
});
export type NewMetadata = z.infer<typeof NewMetadata>;

export const WorkerMetadata = z.object({
  metadata: z.record(z.string(), z.union([z.string(), z.number()])),
});
export type WorkerMetadata = z.infer<typeof WorkerMetadata>;

/** What a worker offers, and what its name was granted, offered or not. */
export const WorkerServices = z.object({
  offered: z.array(z.string()),
  granted: z.array(z.string()),
});
export type WorkerServices = z.infer<typeof WorkerServices>;

/** All that operators have said of a name. */
export interface OperatorAttributes {
  readonly metadata: Metadata;
  /** By name. */
  readonly granted: readonly string[];
}

/** Another state of them; asked where they are written, maybe more than once. */
export type ChangeAttributes = (attributes: OperatorAttributes) => OperatorAttributes;

/** @throws EngineError `invalid_input` in the change where all keys together are too many. */
export function withMetadata({ metadata: given, replace }: NewMetadata): ChangeAttributes {
  return ({ metadata: before, granted }) => {
    const metadata = replace ? given : { ...before, ...given };
    const count = Object.keys(metadata).length;
    if (count <= MOST_KEYS) return { metadata, granted };
    throw invalidField(
      "body.metadata",
      `a worker has ${MOST_KEYS_RULE}; with these it would have ${count}`,
    );
  };
}

/** Without one key, or without any. */
export function withoutMetadata(key?: string): ChangeAttributes {
  return ({ metadata, granted }) => {
    const left = Object.entries(metadata).filter(([name]) => key !== undefined && name !== key);
    return { metadata: Object.fromEntries(left), granted };
  };
}

export function withGrants(services: readonly string[]): ChangeAttributes {
  return ({ metadata, granted }) => ({
    metadata,
    granted: [...new Set([...granted, ...services])].sort(),
  });
}

export function withoutGrant(service: string): ChangeAttributes {
  return ({ metadata, granted }) => ({
    metadata,
    granted: granted.filter((name) => name !== service),
  });
}

/** Services that a worker offers and was granted. */
export function grantedServices(
  offered: readonly string[],
  granted: readonly string[],
): readonly string[] {
  return offered.filter((service) => granted.includes(service));
}

/** The labels of a worker with those that only the server makes, one for each such service (WMD-3). */
export function labelsWithGrants(
  labels: Readonly<Record<string, string>>,
  services: readonly string[],
): Readonly<Record<string, string>> {
  if (services.length === 0) return labels;
  const made = services.map((service) => [SERVICE_PREFIX + service, "true"]);
  return { ...labels, ...Object.fromEntries(made) };
}
