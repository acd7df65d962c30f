import type { Node, TSTupleElement } from "oxc-parser";
import * as z from "zod";
import { propertyName } from "../modules/binding.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { Side } from "./json-schema.ts";
import type { NamedValues } from "./named-values.ts";
import type { SchemaNotes } from "./schema-notes.ts";
import type { TypeNames } from "./type-names.ts";
import {
  defineLazily,
  isObject,
  mergeMembers,
  objectOf,
  optionalMember,
  requiredMember,
} from "./type-objects.ts";
import { type TypePlace, unreadable } from "./type-place.ts";
import { nameParts, TypeReferences } from "./type-references.ts";
import { NotExtracted, Unread } from "./unread.ts";

/**
 * Reads TypeScript types as the zod schemas that say the same (EXE-63), so that both ways to write a
 * schema end in one conversion. Members of objects are read when they are asked for: a type may
 * refer to itself, and what `Omit` leaves out need not be readable.
 */
export class TypeReader {
  readonly #graph: SourceGraph;
  readonly #notes: SchemaNotes;
  readonly #references: TypeReferences;
  /** Of types that may be undefined: what else they are. JSON has null, or nothing, for undefined. */
  readonly #defined = new WeakMap<z.ZodType, z.ZodType | null>();

  constructor(
    graph: SourceGraph,
    notes: SchemaNotes,
    parts: { names: TypeNames; values: NamedValues },
  ) {
    this.#graph = graph;
    this.#notes = notes;
    const written = {
      read: (type: TypePlace) => this.read(type),
      object: (type: TypePlace, members: readonly Node[]) => this.#object(type, members),
      member: (schema: z.ZodType, isOptional: boolean) => this.#member(schema, isOptional),
      present: (schema: z.ZodType) => this.#present(schema),
    };
    this.#references = new TypeReferences(written, parts.names, parts.values);
  }

  /** @throws NotExtracted for a type of another kind than those that are read. */
  read(type: TypePlace): z.ZodType {
    this.#graph.spend(COST);
    const { node } = type;
    switch (node.type) {
      case "TSStringKeyword":
        return z.string();
      case "TSNumberKeyword":
        return z.number();
      case "TSBooleanKeyword":
        return z.boolean();
      case "TSNullKeyword":
        return z.null();
      case "TSNeverKeyword":
        return z.never();
      case "TSBigIntKeyword":
        return this.#notes.put(z.bigint(), type);
      case "TSUndefinedKeyword":
      case "TSVoidKeyword":
        return this.#undefinable(null, z.null());
      case "TSAnyKeyword":
      case "TSUnknownKeyword":
        return this.#undefinable(z.any(), z.any());
      case "TSLiteralType":
        return this.#literal(type, node.literal);
      case "TSUnionType":
        return this.#union(node.types.map((each) => this.read({ ...type, node: each })));
      case "TSIntersectionType":
        return this.#intersection(type, node.types);
      case "TSArrayType":
        return z.array(this.read({ ...type, node: node.elementType }));
      case "TSTupleType":
        return this.#tuple(type, node.elementTypes);
      case "TSTypeLiteral":
        return this.#object(type, node.members);
      case "TSParenthesizedType":
        return this.read({ ...type, node: node.typeAnnotation });
      case "TSTypeOperator":
        if (node.operator === "readonly") return this.read({ ...type, node: node.typeAnnotation });
        throw unreadable(type);
      case "TSTypeReference":
        return this.#references.read({
          type,
          names: nameParts(node.typeName),
          given: node.typeArguments?.params ?? [],
        });
      default:
        throw unreadable(type);
    }
  }

  /**
   * The side of zod schemas that the types read so far stand for.
   *
   * @param otherwise When they stand for none.
   * @throws NotExtracted for both sides at once: there is no conversion of half a schema.
   */
  side(type: TypePlace, otherwise: Side = "input"): Side {
    const [side = otherwise, other] = this.#references.inferred;
    if (other === undefined) return side;
    throw new NotExtracted(new Unread(type, "mixes z.input with z.infer or z.output"));
  }

  #literal(type: TypePlace, literal: Node): z.ZodType {
    if (literal.type === "UnaryExpression" && literal.operator === "-") {
      const { argument } = literal;
      const value = argument.type === "Literal" ? argument.value : undefined;
      if (typeof value === "number") return z.literal(-value);
      if (typeof value === "bigint") return this.#notes.put(z.bigint(), type);
    }
    if (literal.type === "TemplateLiteral" && literal.expressions.length === 0) {
      return z.literal(literal.quasis[0]?.value.cooked ?? "");
    }
    if (literal.type !== "Literal" || "regex" in literal) throw unreadable(type);
    if (typeof literal.value === "bigint") return this.#notes.put(z.bigint(), type);
    return z.literal(literal.value);
  }

  #union(members: readonly z.ZodType[]): z.ZodType {
    const defined = members.flatMap((member) => {
      return this.#defined.has(member) ? (this.#defined.get(member) ?? []) : member;
    });
    const isUndefinable = members.some((member) => this.#defined.has(member));
    if (isUndefinable && defined.length === 0) return this.#undefinable(null, z.null());
    const schema = unionOf([...new Set(defined)]);
    return isUndefinable ? this.#undefinable(schema, z.nullable(schema)) : schema;
  }

  #undefinable(defined: z.ZodType | null, schema: z.ZodType): z.ZodType {
    this.#defined.set(schema, defined);
    return schema;
  }

  #intersection(type: TypePlace, nodes: readonly Node[]): z.ZodType {
    const members = nodes.map((node) => {
      const member = this.read({ ...type, node });
      if (isOfObjects(member)) return member;
      const reason = "is part of an intersection of other things than objects";
      throw new NotExtracted(new Unread({ module: type.module, node }, reason));
    });
    if (members.every(isObject)) return mergeMembers(members, intersectMembers);
    return members.reduce((all, member) => z.intersection(all, member));
  }

  #tuple(type: TypePlace, elements: readonly TSTupleElement[]): z.ZodType {
    const items: z.ZodType[] = [];
    let rest: z.ZodType | undefined;
    for (const element of elements) {
      const inner: Node = element.type === "TSNamedTupleMember" ? element.elementType : element;
      const isOptional = "optional" in element && element.optional;
      if (inner.type === "TSRestType") {
        const list = inner.typeAnnotation;
        const node = list.type === "TSNamedTupleMember" ? list.elementType : list;
        const schema = this.read({ ...type, node });
        if (!(schema instanceof z.ZodArray) || rest) throw unreadable({ ...type, node });
        rest = schema.element as z.ZodType;
      } else if (rest) {
        throw unreadable(type);
      } else if (inner.type === "TSOptionalType") {
        items.push(this.read({ ...type, node: inner.typeAnnotation }).optional());
      } else {
        const schema = this.read({ ...type, node: inner });
        items.push(isOptional ? schema.optional() : schema);
      }
    }
    const tuple = items as [z.ZodType, ...z.ZodType[]];
    return rest ? z.tuple(tuple, rest) : z.tuple(tuple);
  }

  #object(type: TypePlace, members: readonly Node[]): z.ZodType {
    const shape: Record<string, z.ZodType> = {};
    let rest: z.ZodType | undefined;
    for (const member of members) {
      this.#graph.spend(1);
      const at = { ...type, node: member };
      if (member.type === "TSIndexSignature") {
        const { typeAnnotation } = member.typeAnnotation;
        rest = this.#present(this.read({ ...type, node: typeAnnotation }));
        continue;
      }
      const key = memberKey(member);
      if (key === undefined) throw unreadable(at);
      defineLazily(shape, key, () => {
        if (member.type !== "TSPropertySignature") throw unreadable(at);
        const node = member.typeAnnotation?.typeAnnotation;
        const schema = node ? this.read({ ...type, node }) : z.any().optional();
        return this.#member(schema, member.optional);
      });
    }
    if (rest && Object.keys(shape).length === 0) return z.record(z.string(), rest);
    return objectOf(shape, rest);
  }

  /** A member that is undefined is no member of the JSON. */
  #member(schema: z.ZodType, isOptional: boolean): z.ZodType {
    const mayBeLeftOut = isOptional || this.#defined.has(schema);
    return mayBeLeftOut ? optionalMember(this.#present(schema)) : schema;
  }

  #present(schema: z.ZodType): z.ZodType {
    return this.#defined.get(schema) ?? schema;
  }
}

/** Steps that a type counts for: its schema costs more than reading its text. */
const COST = 10;

function memberKey(member: Node): string | undefined {
  const isNamed = member.type === "TSPropertySignature" || member.type === "TSMethodSignature";
  const key = isNamed && !member.computed ? propertyName(member.key) : undefined;
  return key === "__proto__" ? undefined : key;
}

function unionOf(members: readonly z.ZodType[]): z.ZodType {
  const [first, ...more] = members;
  if (!first) return z.never();
  if (more.length === 0) return first;
  if (members.every((member) => member instanceof z.ZodLiteral)) {
    const values = members.flatMap((member) => [...(member as z.ZodLiteral).values]);
    return z.literal(values as [z.core.util.Literal]);
  }
  return z.union(members as [z.ZodType, z.ZodType]);
}

function isOfObjects(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodUnion) {
    return schema.options.every((option) => isOfObjects(option as z.ZodType));
  }
  if (schema instanceof z.ZodIntersection) {
    return [schema.def.left, schema.def.right].every((side) => isOfObjects(side as z.ZodType));
  }
  return schema instanceof z.ZodObject || schema instanceof z.ZodRecord;
}

/** A member of both objects; it may be left out only where both allow that. */
function intersectMembers(a: z.ZodType, b: z.ZodType): z.ZodType {
  const both = z.intersection(requiredMember(a), requiredMember(b));
  const isOptional = a instanceof z.ZodOptional && b instanceof z.ZodOptional;
  return isOptional ? both.optional() : both;
}
