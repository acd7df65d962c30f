import type { Node, TSType, TSTypeReference } from "oxc-parser";
import { walk } from "oxc-walker";
import * as z from "zod";
import { propertyName } from "../modules/binding.ts";
import { type AnyFunction, functionAt, isFunction } from "../modules/functions.ts";
import { resolve } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { Place, SourceModule } from "../modules/source-module.ts";
import { definedBy, readDefinition } from "../workflows/definition.ts";
import { isObject, objectOf } from "./type-objects.ts";
import { NotExtracted } from "./unread.ts";

export interface ReturnReaderParts {
  readonly graph: SourceGraph;
  /** The schema of a type that is written out; throws NotExtracted. */
  readonly typed: (place: Place) => z.ZodType;
  /** The schema that an expression stands for; undefined when it cannot be told. */
  readonly schema: (place: Place) => z.ZodType | undefined;
}

/**
 * What functions return that do not say it: as far as literals, annotations and the tasks and functions
 * they call tell. Any other expression makes the result unknown rather than a guess.
 */
export class ReturnReader {
  readonly #parts: ReturnReaderParts;
  readonly #known = new Map<Node, z.ZodType | undefined>();

  constructor(parts: ReturnReaderParts) {
    this.#parts = parts;
  }

  ofFunction(module: SourceModule, node: AnyFunction): z.ZodType | undefined {
    if (this.#known.has(node)) return this.#known.get(node);
    // What calls itself is not known while it is read.
    this.#known.set(node, undefined);
    const schema = this.#ofFunction(module, node);
    this.#known.set(node, schema);
    return schema;
  }

  #ofFunction(module: SourceModule, node: AnyFunction): z.ZodType | undefined {
    if (node.generator) return undefined;
    if (node.returnType) return this.#type(module, settled(node.returnType.typeAnnotation));
    const returned = returnedBy(node);
    return returned && this.#all(returned.map((each) => this.#read(module, each, node.async)));
  }

  /** @param isSettled Whether a promise that it gives is waited for. */
  #read(module: SourceModule, node: Node, isSettled: boolean): z.ZodType | undefined {
    this.#parts.graph.spend(COST);
    const read = (inner: Node) => this.#read(module, inner, false);
    switch (node.type) {
      case "Literal":
        return "regex" in node ? undefined : literal(node.value);
      case "TemplateLiteral":
        return z.string();
      case "ParenthesizedExpression":
      case "TSSatisfiesExpression":
      case "TSNonNullExpression":
        return this.#read(module, node.expression, isSettled);
      case "TSAsExpression":
        return isNamed(node.typeAnnotation, "const")
          ? this.#read(module, node.expression, isSettled)
          : this.#type(module, node.typeAnnotation);
      case "AwaitExpression":
        return this.#read(module, node.argument, true);
      case "ConditionalExpression":
        return this.#all(
          [node.consequent, node.alternate].map((each) => this.#read(module, each, isSettled)),
        );
      case "UnaryExpression":
        if (node.operator === "!") return z.boolean();
        return node.operator === "typeof" ? z.string() : undefined;
      case "BinaryExpression":
        return computed(node.operator, read(node.left), read(node.right));
      case "ArrayExpression":
        return this.#array(module, node.elements);
      case "ObjectExpression":
        return this.#object(module, node.properties);
      case "Identifier":
        return this.#named(module, node);
      case "MemberExpression": {
        const key = node.computed || node.optional ? undefined : propertyName(node.property);
        const object = key === undefined ? undefined : read(node.object);
        return key !== undefined && isObject(object) ? memberOf(object, key) : undefined;
      }
      case "CallExpression":
        return node.optional ? undefined : this.#called(module, node.callee, isSettled);
      default:
        return undefined;
    }
  }

  #called(module: SourceModule, callee: Node, isSettled: boolean): z.ZodType | undefined {
    const target = resolve(this.#parts.graph, { module, node: callee });
    if (target.kind !== "node") return undefined;
    const { module: at, node } = target;
    if (isFunction(node)) {
      return isSettled || !givesPromise(node) ? this.ofFunction(at, node) : undefined;
    }
    if (!isSettled || node.type !== "CallExpression") return undefined;
    const { graph, schema } = this.#parts;
    const call = { module: at, node };
    if (definedBy(graph, call) !== "task") return undefined;
    const { schemas, body } = readDefinition(graph, "task", call);
    if (schemas.output) return schema(schemas.output);
    const own = body && functionAt(graph, body);
    return own && this.ofFunction(own.module, own.node);
  }

  #named(module: SourceModule, node: Node): z.ZodType | undefined {
    const binding = module.references.get(node);
    const isChanged = binding === undefined || binding.assigned.length > 0;
    if (binding?.kind === "parameter")
      return isChanged ? undefined : this.#annotated(module, binding.node);
    if (binding?.kind !== "variable" || binding.keyword !== "const") return undefined;
    const { id, init } = binding.node;
    if (id.type !== "Identifier" || init === null) return undefined;
    const written = this.#annotated(module, id);
    return written || isChanged ? written : this.#read(module, init, false);
  }

  #annotated(module: SourceModule, node: Node): z.ZodType | undefined {
    if (!("typeAnnotation" in node) || ("optional" in node && node.optional)) return undefined;
    const { typeAnnotation: annotation } = node;
    return annotation?.type === "TSTypeAnnotation"
      ? this.#type(module, annotation.typeAnnotation)
      : undefined;
  }

  #array(module: SourceModule, elements: readonly (Node | null)[]): z.ZodType | undefined {
    const items = elements.map((element) => {
      return element && element.type !== "SpreadElement"
        ? this.#read(module, element, false)
        : undefined;
    });
    return z.array(this.#all(items) ?? z.any());
  }

  /** A member that is not known may be undefined, and so be no member of the JSON. */
  #object(module: SourceModule, properties: readonly Node[]): z.ZodType | undefined {
    const shape: Record<string, z.ZodType> = {};
    for (const property of properties) {
      if (property.type !== "Property" || property.computed || property.kind !== "init") {
        return undefined;
      }
      const key = propertyName(property.key);
      if (key === undefined || key === "__proto__") return undefined;
      shape[key] = this.#read(module, property.value, false) ?? z.any().optional();
    }
    return objectOf(shape);
  }

  #all(schemas: readonly (z.ZodType | undefined)[]): z.ZodType | undefined {
    const known = schemas.flatMap((schema) => schema ?? []);
    const [first] = known;
    if (first === undefined || known.length < schemas.length) return undefined;
    const kinds = new Set(known.map(({ def }) => (PLAIN.has(def.type) ? def.type : {})));
    return kinds.size === 1 ? first : z.union(known as [z.ZodType, z.ZodType]);
  }

  #type(module: SourceModule, node: Node): z.ZodType | undefined {
    if (NO_VALUE.has(node.type)) return undefined;
    try {
      return this.#parts.typed({ module, node });
    } catch (error) {
      if (error instanceof NotExtracted) return undefined;
      throw error;
    }
  }
}

/** Steps that an expression counts for, as a type does. */
const COST = 10;

/** Kinds of schemas of which two are one. */
const PLAIN: ReadonlySet<string> = new Set(["string", "number", "boolean", "null"]);

/** Types that say nothing of a value, or that there is none. */
export const NO_VALUE: ReadonlySet<string> = new Set([
  "TSAnyKeyword",
  "TSUnknownKeyword",
  "TSUndefinedKeyword",
  "TSVoidKeyword",
]);

function literal(value: unknown): z.ZodType | undefined {
  if (value === null) return z.null();
  if (typeof value === "string") return z.string();
  if (typeof value === "number") return z.number();
  return typeof value === "boolean" ? z.boolean() : undefined;
}

function computed(
  operator: string,
  left: z.ZodType | undefined,
  right: z.ZodType | undefined,
): z.ZodType | undefined {
  if (/^(?:[=!]==?|[<>]=?|in|instanceof)$/.test(operator)) return z.boolean();
  if (operator === "+" && (left instanceof z.ZodString || right instanceof z.ZodString)) {
    return z.string();
  }
  const isNumbers = left instanceof z.ZodNumber && right instanceof z.ZodNumber;
  return isNumbers && /^(?:[-+*/%]|\*\*)$/.test(operator) ? z.number() : undefined;
}

function memberOf(object: z.ZodObject, key: string): z.ZodType | undefined {
  const member = Object.hasOwn(object.def.shape, key) ? object.shape[key] : undefined;
  return member instanceof z.ZodOptional ? undefined : (member as z.ZodType | undefined);
}

/** The expressions a function may return; undefined when it may also end without one. */
function returnedBy({ body }: AnyFunction): readonly Node[] | undefined {
  if (body?.type !== "BlockStatement") return body ? [body] : undefined;
  const last = body.body.at(-1);
  if (last?.type !== "ReturnStatement" && last?.type !== "ThrowStatement") return undefined;
  const returned: (Node | null)[] = [];
  walk(body, {
    enter(node) {
      if (isFunction(node) || /^(?:Class|Method|Property)Definition/.test(node.type)) {
        return this.skip();
      }
      if (node.type === "ReturnStatement") returned.push(node.argument);
      return undefined;
    },
  });
  const some = returned.filter((each) => each !== null);
  return some.length === returned.length && some.length > 0 ? some : undefined;
}

function givesPromise({ async, returnType }: AnyFunction): boolean {
  return (
    async ||
    (returnType != null && settled(returnType.typeAnnotation) !== returnType.typeAnnotation)
  );
}

/** `T` of `Promise<T>`, any other type as it is. */
export function settled(type: TSType): TSType {
  return (isNamed(type, "Promise") ? type.typeArguments?.params[0] : undefined) ?? type;
}

function isNamed(type: TSType, name: string): type is TSTypeReference {
  if (type.type !== "TSTypeReference") return false;
  return type.typeName.type === "Identifier" && type.typeName.name === name;
}
