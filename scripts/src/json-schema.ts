/** The part of JSON Schema that our own schemas convert to. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly default?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** A schema as a TypeScript-like type, in one line. */
export function typeText(schema: JsonSchema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return alternatives.map(typeText).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.join(" | ");
  if (schema.type === "array") return listText(typeText(schema.items ?? {}));
  if (schema.properties) return `{ ${fieldTexts(schema).join("; ")} }`;
  if (schema.type === "object") {
    const value = schema.additionalProperties;
    return `{ [key]: ${typeof value === "object" ? typeText(value) : "any JSON"} }`;
  }
  if (typeof schema.type === "string") return schema.type;
  return "any JSON";
}

/** `name: type` per field of an object. */
export function fieldTexts({ properties = {}, required = [] }: JsonSchema): string[] {
  return Object.entries(properties).map(([name, value]) => {
    return `${name}${required.includes(name) ? "" : "?"}: ${typeText(value)}`;
  });
}

export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

function listText(item: string): string {
  return item.includes(" ") ? `(${item})[]` : `${item}[]`;
}

/** What JavaScript can hold at most says nothing to a reader. */
export function rangeText({ minimum, exclusiveMinimum, maximum }: JsonSchema): string {
  const least =
    minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? `from ${minimum}` : undefined;
  const above = exclusiveMinimum === undefined ? undefined : `over ${exclusiveMinimum}`;
  const most =
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `to ${maximum}` : undefined;
  return [least ?? above, most].filter((text) => text !== undefined).join(" ");
}
