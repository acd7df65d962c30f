import type { Node } from "oxc-parser";
import * as z from "zod";
import type { SourceModule } from "../modules/source-module.ts";
import { PackageValue } from "./expression-values.ts";
import type { NamedValues } from "./named-values.ts";
import { isSchema } from "./schema-notes.ts";
import type { NamedType, TypeDeclaration, TypeNames } from "./type-names.ts";
import {
  defineLazily,
  isObject,
  mapMembers,
  mergeMembers,
  objectOf,
  requiredMember,
} from "./type-objects.ts";
import { type TypePlace, unreadable } from "./type-place.ts";
import { NotExtracted, Unread } from "./unread.ts";
import { zodPath } from "./zod-package.ts";

/** A name in a type, with its type arguments. */
export interface TypeReference {
  readonly type: TypePlace;
  /** `["shop", "Order"]` of `shop.Order`. */
  readonly names: readonly string[];
  readonly given: readonly Node[];
}

/** Reads the parts of types that are written out. */
export interface WrittenTypes {
  read(type: TypePlace): z.ZodType;
  object(type: TypePlace, members: readonly Node[]): z.ZodType;
  /** A type as that of a member, which may be missing where the type may be undefined. */
  member(schema: z.ZodType, isOptional: boolean): z.ZodType;
  /** A type where there is a value. */
  present(schema: z.ZodType): z.ZodType;
}

/** Reads types by their names: those that the files declare, TypeScript's own, and those of zod. */
export class TypeReferences {
  readonly #written: WrittenTypes;
  readonly #names: TypeNames;
  readonly #values: NamedValues;
  readonly #known = new Map<TypeDeclaration, Known[]>();
  readonly #open = new Set<TypeDeclaration>();
  readonly #inferred = new Set<"input" | "output">();

  constructor(written: WrittenTypes, names: TypeNames, values: NamedValues) {
    this.#written = written;
    this.#names = names;
    this.#values = values;
  }

  /** The sides of zod schemas that the types read so far are inferred from. */
  get inferred(): ReadonlySet<"input" | "output"> {
    return this.#inferred;
  }

  read({ type, names, given }: TypeReference): z.ZodType {
    const [first = "", ...more] = names;
    const args = given.map((node) => argumentOf({ ...type, node }));
    const parameter = more.length === 0 ? type.parameters?.get(first) : undefined;
    if (parameter) return this.#written.read(parameter);

    const root = this.#names.find(type.module, type.node, first);
    if (root === undefined && more.length === 0) return this.#builtIn(type, first, args);
    const found = more.reduce<NamedType | undefined>((at, name) => this.#part(at, name), root);
    if (found?.kind === "package") {
      return this.#ofPackage(type, new PackageValue(found.source, found.keys), given);
    }
    if (found?.kind === "declared") return this.#declared(type, found, args);
    if (found?.kind === "unknown") throw new NotExtracted(new Unread(type, found.reason));
    throw unreadable(type);
  }

  #part(found: NamedType | undefined, name: string): NamedType | undefined {
    if (found?.kind === "module") return this.#names.exported(found.module, name);
    if (found?.kind === "package") return { ...found, keys: [...found.keys, name] };
    return found?.kind === "unknown" ? found : undefined;
  }

  #declared(
    type: TypePlace,
    { module, nodes }: NamedType & { kind: "declared" },
    args: readonly TypePlace[],
  ): z.ZodType {
    const [declaration] = nodes;
    if (!declaration) throw unreadable(type);
    const known = this.#known.get(declaration) ?? [];
    this.#known.set(declaration, known);
    const same = () => known.find((each) => isSame(each.args, args))?.schema;
    const made = same();
    if (made) return made;
    if (this.#open.has(declaration)) return z.lazy(() => same() ?? refuse(type));
    this.#open.add(declaration);
    try {
      const schemas = nodes.map((node) => this.#declaration(module, node, args));
      const [schema = refuse(type)] = schemas;
      const whole = schemas.length > 1 && schemas.every(isObject) ? mergeMembers(schemas) : schema;
      known.push({ args, schema: whole });
      return whole;
    } finally {
      this.#open.delete(declaration);
    }
  }

  #declaration(module: SourceModule, node: TypeDeclaration, args: readonly TypePlace[]): z.ZodType {
    const parameters = new Map<string, TypePlace>();
    const declared = node.typeParameters?.params ?? [];
    for (const [index, { name, default: standard }] of declared.entries()) {
      const argument = args[index] ?? (standard && { module, node: standard, parameters });
      if (!argument) throw unreadable({ module, node });
      parameters.set(name.name, argument);
    }
    if (node.type === "TSTypeAliasDeclaration") {
      return this.#written.read({ module, node: node.typeAnnotation, parameters });
    }
    const own = this.#written.object({ module, node, parameters }, node.body.body);
    if (node.extends.length === 0) return own;
    const bases = node.extends.map((base) => {
      const given = base.typeArguments?.params ?? [];
      const type = { module, node: base, parameters };
      return this.read({ type, names: nameParts(base.expression), given });
    });
    const all = [...bases, own];
    if (all.every(isObject)) return mergeMembers(all);
    throw unreadable({ module, node });
  }

  #builtIn(type: TypePlace, name: string, args: readonly TypePlace[]): z.ZodType {
    const [first, second] = args;
    if (!first || BUILT_IN.get(name) !== args.length) throw unreadable(type);
    if (name === "Array" || name === "ReadonlyArray") return z.array(this.#written.read(first));
    if (name === "Readonly") return this.#written.read(first);
    if (name === "Record" && second) return this.#record(first, second);
    const object = this.#written.read(first);
    if (object instanceof z.ZodRecord && name === "Partial") return object;
    if (!isObject(object)) throw unreadable(first);
    if (name === "Partial") {
      return mapMembers(object, { member: (each) => this.#written.member(each, true) });
    }
    if (name === "Required") return mapMembers(object, { member: requiredMember });
    const keys = second && keysOf(this.#written.read(second));
    if (!keys) throw unreadable(second ?? type);
    return mapMembers(object, { keep: (key) => keys.has(key) === (name === "Pick") });
  }

  #record(keys: TypePlace, values: TypePlace): z.ZodType {
    const key = this.#written.read(keys);
    if (key instanceof z.ZodString || key instanceof z.ZodNumber) {
      return z.record(z.string(), this.#written.present(this.#written.read(values)));
    }
    const names = keysOf(key);
    if (!names) throw unreadable(keys);
    const shape: Record<string, z.ZodType> = {};
    for (const name of names) {
      defineLazily(shape, name, () => this.#written.member(this.#written.read(values), false));
    }
    return objectOf(shape);
  }

  /** `z.infer<typeof Order>`. */
  #ofPackage(type: TypePlace, name: PackageValue, [argument]: readonly Node[]): z.ZodType {
    const path = zodPath(name);
    const side = path === undefined ? undefined : INFERENCES.get(path);
    if (!side || argument?.type !== "TSTypeQuery") {
      throw new NotExtracted(new Unread(type, `uses a type of the package ${name.source}`));
    }
    const value = this.#values.read(type.module, argument, nameParts(argument.exprName));
    if (value instanceof Unread) throw new NotExtracted(value);
    if (!isSchema(value)) throw unreadable({ ...type, node: argument });
    this.#inferred.add(side);
    return value;
  }
}

interface Known {
  readonly args: readonly TypePlace[];
  readonly schema: z.ZodType;
}

/** With the number of their arguments. */
const BUILT_IN: ReadonlyMap<string, number> = new Map([
  ["Array", 1],
  ["ReadonlyArray", 1],
  ["Readonly", 1],
  ["Partial", 1],
  ["Required", 1],
  ["Record", 2],
  ["Pick", 2],
  ["Omit", 2],
]);

const INFERENCES: ReadonlyMap<string, "input" | "output"> = new Map([
  ["infer", "output"],
  ["TypeOf", "output"],
  ["output", "output"],
  ["input", "input"],
]);

function refuse(type: TypePlace): never {
  throw unreadable(type);
}

/** A type parameter that is handed on is the type it stands for. */
function argumentOf(type: TypePlace): TypePlace {
  const { node, parameters } = type;
  if (node.type !== "TSTypeReference" || node.typeName.type !== "Identifier") return type;
  return parameters?.get(node.typeName.name) ?? type;
}

function keysOf(schema: z.ZodType): ReadonlySet<string> | undefined {
  if (!(schema instanceof z.ZodLiteral)) return undefined;
  return new Set([...schema.values].map(String));
}

/** `["a", "b"]` of `a.b`, which `extends` holds as an expression and other types as a name. */
export function nameParts(node: Node): readonly string[] {
  if (node.type === "TSQualifiedName") return [...nameParts(node.left), node.right.name];
  if (node.type === "MemberExpression" && node.property.type === "Identifier") {
    return [...nameParts(node.object), node.property.name];
  }
  return [node.type === "Identifier" ? node.name : ""];
}

function isSame(a: readonly TypePlace[], b: readonly TypePlace[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ node, parameters }, index) => {
      const other = b[index];
      const isClosed = !parameters?.size && !other?.parameters?.size;
      return node === other?.node && (isClosed || parameters === other.parameters);
    })
  );
}
