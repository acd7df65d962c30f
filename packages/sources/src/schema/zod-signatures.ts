/**
 * The builders and methods of zod that are called for authors, by what each does with its arguments,
 * one letter per argument; arguments past the letters (messages, mostly) are left out, since they
 * leave the JSON Schema as it is. What is not listed here is not called.
 *
 * - `s` a schema, `S` an object of schemas, `L` a list of schemas, `P` a list of schemas and texts
 * - `d` data, without which the result cannot be told; `m` the same of a mask or of options
 * - `c` data of a check: without it the check is left out
 * - `f` a function of the author's: never called, a function that does nothing takes its place
 * - `r` a schema, or something else that is left out
 */
const BUILDER_LISTS: Readonly<Record<string, string>> = {
  "": `string number boolean bigint symbol date undefined null void any unknown never nan int int32
    uint32 int64 uint64 float32 float64 httpUrl emoji nanoid cuid cuid2 ulid xid ksuid cidrv4 cidrv6
    base64 base64url e164 hex hostname stringbool json file function guid uuidv4 uuidv6 uuidv7
    creditCard iban currencyCode coerce.string coerce.number coerce.boolean coerce.bigint coerce.date
    iso.date iso.duration positive negative nonpositive nonnegative lowercase uppercase trim
    toLowerCase toUpperCase normalize slugify`,
  m: "email url uuid jwt mac ipv4 ipv6 iso.datetime iso.time",
  d: "literal enum nativeEnum hash",
  s: `array set promise optional nullable nullish nonoptional exactOptional readonly success keyof
    partial required`,
  S: "object strictObject looseObject",
  L: "union xor",
  P: "templateLiteral",
  f: "transform custom instanceof refine superRefine overwrite check",
  dL: "discriminatedUnion",
  ss: "intersection record partialRecord looseRecord map pipe merge catchall",
  sS: "extend safeExtend",
  sm: "pick omit",
  Lr: "tuple",
  fs: "preprocess",
  ssd: "codec",
  sd: "_default prefault",
  dd: "stringFormat",
  c: `gt gte lt lte minimum maximum multipleOf minLength maxLength length regex includes startsWith
    endsWith minSize maxSize size mime`,
};

const METHOD_LISTS: Readonly<Record<string, string>> = {
  "": `optional nullable nullish exactOptional nonoptional array readonly unwrap strict loose passthrough
    strip keyof positive negative nonpositive nonnegative int safe finite nonempty trim toLowerCase
    toUpperCase normalize slugify lowercase uppercase emoji guid uuidv4 uuidv6 uuidv7 nanoid cuid cuid2
    ulid xid ksuid base64 base64url cidrv4 cidrv6 e164 date duration clone`,
  m: "partial exactPartial required pick omit email url uuid jwt ipv4 ipv6 datetime time",
  d: "exclude extract",
  s: "merge and or pipe catchall rest",
  S: "extend safeExtend",
  f: "transform",
  c: `min max length size gt gte lt lte multipleOf step regex includes startsWith endsWith mime`,
};

export const BUILDERS: ReadonlyMap<string, string> = byName(BUILDER_LISTS);
export const METHODS: ReadonlyMap<string, string> = byName(METHOD_LISTS);

/** Methods that leave the JSON Schema as it is. */
export const NEUTRAL_METHODS: ReadonlySet<string> = new Set(
  "refine superRefine refinement overwrite brand with".split(" "),
);

/** Members of schemas that hold schemas or values. */
export const SCHEMA_MEMBERS: ReadonlySet<string> = new Set(
  "shape element options enum entries in out".split(" "),
);

function byName(lists: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const pairs = Object.entries(lists).flatMap(([signature, names]) =>
    names.split(/\s+/).map((name) => [name, signature] as const),
  );
  return new Map(pairs);
}
