import type { Json } from "@engine/contract";

/** Keys and indexes that lead from an input to a part of it. */
export type Path = readonly string[];

/** The keys of a JSON Pointer. */
export function pointerPath(pointer: string): Path {
  const keys = pointer.split("/").slice(1);
  return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** As a reader would write it, such as `body.items[3].sku`. */
export function pathText(root: string, path: Path, value: Json): string {
  let at: unknown = value;
  let text = root;
  for (const key of path) {
    text += Array.isArray(at) ? `[${key}]` : `.${key.slice(0, MAX_KEY)}`;
    at = typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined;
  }
  return text;
}

/** The input may be made of such keys; the answer should not be. */
const MAX_KEY = 80;

/** Whether one place is the other, or lies in it. */
export function isRelated(a: Path, b: Path): boolean {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
  return shorter.every((key, index) => key === longer[index]);
}

/** Places of values that have another form in JSON. */
export function richPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === "number") return Number.isFinite(value) ? [] : [path];
  if (value === undefined || typeof value === "bigint") return [path];
  if (typeof value !== "object" || value === null) return [];
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return [path];
  return Object.entries(value).flatMap(([key, member]) => richPaths(member, [...path, key]));
}
