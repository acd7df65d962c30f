import { UniqueKeys } from "./unique-keys.ts";

/**
 * Gives back what it is given where nothing is to be masked.
 *
 * @param place Where in the value a text is; keys and numbers have none.
 */
export type MaskText = (text: string, place: string | undefined) => string;

export interface MaskedValue {
  readonly value: unknown;
  /** Texts, numbers and keys that were changed. */
  readonly count: number;
}

/**
 * Masks the texts, keys and numbers of a value as `JSON.stringify` sees it, and gives back the value
 * itself where there is nothing to mask. It is not recursive, and a part that is in several places is
 * copied once.
 */
export function maskValue(value: unknown, mask: MaskText): MaskedValue {
  const walk = new MaskWalk(mask);
  const copy = walk.run(value);
  return { value: walk.count === 0 ? value : copy, count: walk.count };
}

type Copied = unknown[] | Record<string, unknown>;

class MaskWalk {
  count = 0;
  readonly #mask: MaskText;
  readonly #copies = new Map<object, Copied>();
  readonly #open: { readonly from: object; readonly to: Copied; readonly place: string }[] = [];

  constructor(mask: MaskText) {
    this.#mask = mask;
  }

  run(value: unknown): unknown {
    const copy = this.#copyOf(value, "", "");
    for (let next = this.#open.pop(); next; next = this.#open.pop()) {
      if (Array.isArray(next.to)) this.#fillList(next.to, next.from as unknown[], next.place);
      else this.#fillRecord(next.to, next.from as Record<string, unknown>, next.place);
    }
    return copy;
  }

  #fillList(to: unknown[], from: readonly unknown[], place: string): void {
    for (let i = 0; i < from.length; i++) to.push(this.#copyOf(from[i], place, String(i)));
  }

  #fillRecord(to: Record<string, unknown>, from: Record<string, unknown>, place: string): void {
    let names: UniqueKeys | undefined;
    for (const key of Object.keys(from)) {
      const masked = this.#masked(key, undefined);
      if (masked !== key) names ??= new UniqueKeys(Object.keys(to));
      const name = names ? names.next(masked, masked !== key) : key;
      const value = this.#copyOf(from[key], place, key);
      // An assignment to this one would set the prototype.
      if (name === "__proto__") Object.defineProperty(to, name, { ...OWN, value });
      else to[name] = value;
    }
  }

  #copyOf(value: unknown, container: string, key: string): unknown {
    if (typeof value === "object" && value !== null)
      return this.#copyOfObject(value, container, key);
    if (typeof value === "string") return this.#masked(value, `${container}/${key}`);
    if (typeof value !== "number" && typeof value !== "bigint") return value;
    const text = String(value);
    const masked = this.#masked(text, undefined);
    return masked === text ? value : masked;
  }

  #copyOfObject(value: object, container: string, key: string): unknown {
    const known = this.#copies.get(value);
    if (known) return known;
    const shown = hasToJson(value) ? value.toJSON(key) : value;
    if (typeof shown !== "object" || shown === null) return this.#copyOf(shown, container, key);
    const copy: Copied = Array.isArray(shown) ? [] : {};
    this.#copies.set(value, copy);
    this.#open.push({ from: shown, to: copy, place: `${container}/${key}` });
    return copy;
  }

  #masked(text: string, place: string | undefined): string {
    const masked = this.#mask(text, place);
    if (masked !== text) this.count++;
    return masked;
  }
}

const OWN = { configurable: true, enumerable: true, writable: true };

function hasToJson(value: object): value is { toJSON(key: string): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}
