/** What both views of a JSON Schema need to find their way through it. */
export type Schema = Readonly<Record<string, unknown>>;

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The types that a schema names itself. */
export function typesOf({ type }: Schema): readonly unknown[] {
  return typeof type === "string" ? [type] : listOf(type);
}

/** What `#/$defs/Order` means below a root; undefined when there is nothing. */
export function referred(root: unknown, ref: string): unknown {
  const keys = ref.split("/").slice(1);
  return keys.reduce<unknown>((at, key) => {
    const name = decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
    return isSchema(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }, root);
}
