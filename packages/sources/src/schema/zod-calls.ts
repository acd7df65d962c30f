import type * as z from "zod";
import type { Place } from "../modules/source-module.ts";
import { FunctionValue, isPlainObject, PackageValue } from "./expression-values.ts";
import { isSchema, type SchemaNotes } from "./schema-notes.ts";
import { Unread } from "./unread.ts";
import { zodPath, zodValue } from "./zod-package.ts";
import { BUILDERS, METHODS, NEUTRAL_METHODS } from "./zod-signatures.ts";

/** A call of zod, with arguments as they were read. */
export interface ZodCall {
  readonly name: string;
  readonly values: readonly unknown[];
  readonly place: Place;
}

/** Makes the calls of zod that an expression spells out, on zod itself. */
export class ZodCalls {
  readonly #notes: SchemaNotes;
  /** Reads what a function of the author's returns. */
  readonly #returned: (value: FunctionValue) => unknown;

  constructor(notes: SchemaNotes, returned: (value: FunctionValue) => unknown) {
    this.#notes = notes;
    this.#returned = returned;
  }

  /** `z.object(…)`. */
  build(callee: PackageValue, values: readonly unknown[], place: Place): unknown {
    const name = zodPath(callee);
    if (name === undefined) return new Unread(place, `is made by the package ${callee.source}`);
    const call = { name, values, place };
    const builder = zodValue(callee, name);
    if (typeof builder !== "function") return new Unread(place, `calls zod's ${name}`);
    if (name === "lazy") return this.#lazy(builder, call);
    if (name === "catch" && isSchema(values[0])) return values[0];
    const signature = BUILDERS.get(name);
    if (signature === undefined) return new Unread(place, `calls zod's ${name}`);
    return this.#made(call, signature, (args) => builder(...args));
  }

  /** `schema.min(…)`. */
  method(schema: z.ZodType, call: ZodCall): unknown {
    const { name, values, place } = call;
    if (NEUTRAL_METHODS.has(name)) return schema;
    if (name === "describe") return this.#described(schema, { description: values[0] });
    if (name === "meta") return this.#described(schema, values[0]);
    if (name === "register") return this.#registered(schema, values);
    if (name === "default" || name === "prefault") return this.#withDefault(schema, call);
    if (name === "catch") return this.#withCatch(schema, values[0]);
    if (name === "check") return this.#checked(schema, call);
    const signature = METHODS.get(name);
    const method: unknown = Reflect.get(schema, name);
    if (signature === undefined || typeof method !== "function") {
      return new Unread(place, `calls ${name}() of a schema`);
    }
    const missing = values[0];
    if (signature === "c" && missing instanceof Unread) {
      return this.#notes.leaveOut(schema.clone(), missing);
    }
    return this.#made(call, signature, (args) => method.apply(schema, args));
  }

  /** The schema a value stands for where one is needed. */
  schemaOf(value: unknown, place: Place): z.ZodType {
    if (isSchema(value)) return value;
    const part = value instanceof Unread ? value : new Unread(place, "is not a schema of zod");
    return this.#notes.anyFor(part);
  }

  #made(call: ZodCall, signature: string, make: (args: unknown[]) => unknown): unknown {
    const { values, place, name } = call;
    const args: unknown[] = [];
    const given = values.slice(0, signature.length);
    for (const [index, value] of given.entries()) {
      const argument = this.#argument(signature[index] ?? "", value, place);
      if (argument instanceof Unread) return argument;
      args.push(argument);
    }
    try {
      const made = make(args);
      return typeof made === "object" && made !== null ? this.#notes.put(made, place) : made;
    } catch (error) {
      if (error instanceof RangeError || !(error instanceof Error)) throw error;
      return new Unread(place, `is refused by zod's ${name}`);
    }
  }

  #argument(kind: string, value: unknown, place: Place): unknown {
    switch (kind) {
      case "s":
        return this.schemaOf(value, place);
      case "S":
        return value instanceof Unread ? value : this.#shape(value, place);
      case "L":
        if (!Array.isArray(value)) return unreadOr(value, place, "is not a list of schemas");
        return value.map((item) => this.schemaOf(item, place));
      case "P":
        if (!Array.isArray(value)) return unreadOr(value, place, "is not a list");
        return data(value, place);
      case "f":
        return doNothing;
      case "r":
        return isSchema(value) ? value : undefined;
      default:
        return data(value, place);
    }
  }

  /** Getters stay getters: with them a schema refers to itself. */
  #shape(value: unknown, place: Place): unknown {
    if (!isPlainObject(value)) return new Unread(place, "is not an object of schemas");
    const shape = {};
    for (const [key, { get, value: member }] of Object.entries(
      Object.getOwnPropertyDescriptors(value),
    )) {
      const read = () => this.schemaOf(get ? get.call(value) : member, place);
      const common = { enumerable: true, configurable: true };
      Object.defineProperty(
        shape,
        key,
        get ? { ...common, get: read } : { ...common, value: read() },
      );
    }
    return shape;
  }

  #lazy(builder: unknown, { values, place }: ZodCall): unknown {
    const [getter] = values;
    if (!(getter instanceof FunctionValue)) return unreadOr(getter, place, "is not a function");
    const lazy = builder as (get: () => unknown) => object;
    return this.#notes.put(
      lazy(() => this.schemaOf(this.#returned(getter), getter.place)),
      place,
    );
  }

  #described(schema: z.ZodType, given: unknown): z.ZodType {
    if (!isPlainObject(given)) return schema;
    const kept = Object.entries(given).filter(([key, value]) => isKept(key, value));
    const copy = schema.clone();
    this.#notes.metadata.add(copy, Object.fromEntries(kept));
    const place = this.#notes.placeOf(schema);
    return place ? this.#notes.put(copy, place) : copy;
  }

  #registered(schema: z.ZodType, [registry, given]: readonly unknown[]): z.ZodType {
    const isGlobal = registry instanceof PackageValue && zodPath(registry) === "globalRegistry";
    return isGlobal ? this.#described(schema, given) : schema;
  }

  /** A default that is computed is not known; that the value may be left out is. */
  #withDefault(schema: z.ZodType, { name, values, place }: ZodCall): unknown {
    const [given] = values;
    const value = given instanceof FunctionValue ? this.#returned(given) : given;
    if (value === undefined || !isJson(value)) return schema.optional();
    const made = name === "default" ? schema.default(value) : schema.prefault(value);
    return this.#notes.put(made, place);
  }

  #withCatch(schema: z.ZodType, given: unknown): z.ZodType {
    return isJson(given) && given !== undefined ? schema.catch(given) : schema;
  }

  #checked(schema: z.ZodType, { values }: ZodCall): z.ZodType {
    const gap = values.find((value) => value instanceof Unread);
    const checks = values.filter((value) => isCheck(value));
    const checked = checks.length > 0 ? schema.check(...checks) : schema;
    return gap ? this.#notes.leaveOut(checked.clone(), gap) : checked;
  }
}

/** What begins with $ would change how the schema is read, not what it says; an anchor only names it. */
function isKept(key: string, value: unknown): boolean {
  if (key === "$anchor") return typeof value === "string" && /^[A-Za-z_][-\w.]*$/.test(value);
  return !key.startsWith("$") && isJson(value);
}

function unreadOr(value: unknown, place: Place, reason: string): Unread {
  return value instanceof Unread ? value : new Unread(place, reason);
}

/** Data as zod takes it; a part of it that is not known makes all of it unknown. */
function data(value: unknown, place: Place): unknown {
  if (value instanceof FunctionValue) return doNothing;
  if (value instanceof PackageValue) {
    const path = zodPath(value);
    const found = path?.startsWith("regexes.") ? zodValue(value, path) : undefined;
    return found instanceof RegExp ? found : new Unread(place, "uses a value of a package");
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => data(item, place));
    return items.find((item) => item instanceof Unread) ?? items;
  }
  if (!isPlainObject(value)) return value;
  const members = Object.entries(value)
    .filter(([key]) => key !== "error" && key !== "message")
    .map(([key, member]) => [key, data(member, place)] as const);
  const gap = members.find(([, member]) => member instanceof Unread);
  return gap ? gap[1] : Object.fromEntries(members);
}

function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => item !== undefined && isJson(item));
  if (isPlainObject(value)) return Object.values(value).every(isJson);
  return value === null || /^(?:string|boolean|number|undefined)$/.test(typeof value);
}

function isCheck(value: unknown): value is z.core.$ZodCheck<unknown> {
  return typeof value === "object" && value !== null && "_zod" in value;
}

// Checks and transformations of the author's run on workers only.
const doNothing = (): boolean => true;
