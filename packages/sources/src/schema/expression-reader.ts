import type { CallExpression, Node, ObjectExpression, ObjectProperty } from "oxc-parser";
import * as z from "zod";
import { type Binding, propertyName } from "../modules/binding.ts";
import { exportOrigin, importOrigin, type Origin, unwrap } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { Place, SourceModule } from "../modules/source-module.ts";
import { describeExpression, GLOBALS } from "../workflows/evaluate.ts";
import { enumValues } from "./enum-values.ts";
import { FunctionValue, isPlainObject, ModuleValue, PackageValue } from "./expression-values.ts";
import { operation, textOf } from "./operations.ts";
import { isSchema, type SchemaNotes } from "./schema-notes.ts";
import { Unread } from "./unread.ts";
import { ZodCalls } from "./zod-calls.ts";
import { SCHEMA_MEMBERS } from "./zod-signatures.ts";

/**
 * Builds the zod schemas that expressions spell out (EXE-63): the calls of zod are read from the
 * text and made on the server's own zod, everything else is left alone. A part that cannot be told
 * from the text becomes {@link Unread}.
 */
export class ExpressionReader {
  readonly #graph: SourceGraph;
  readonly #calls: ZodCalls;
  /** Every expression has one value, so that schemas which refer to each other are recognised. */
  readonly #known = new Map<Node, unknown>();
  readonly #open = new Set<Node>();

  constructor(graph: SourceGraph, notes: SchemaNotes) {
    this.#graph = graph;
    this.#calls = new ZodCalls(notes, ({ place, returned }) =>
      returned ? this.read(place.module, returned) : new Unread(place, "is a function"),
    );
  }

  read(module: SourceModule, expression: Node): unknown {
    this.#graph.spend(1);
    const node = unwrap(expression);
    if (this.#known.has(node)) return this.#known.get(node);
    if (this.#open.has(node)) {
      return z.lazy(() => this.#calls.schemaOf(this.#known.get(node), { module, node }));
    }
    this.#open.add(node);
    try {
      const value = this.#valueOf(module, node);
      this.#known.set(node, value);
      return value;
    } finally {
      this.#open.delete(node);
    }
  }

  /** What a name that a file declares stands for. */
  named(module: SourceModule, binding: Binding, at: Place): unknown {
    switch (binding.kind) {
      case "import":
        return this.#origin(importOrigin(this.#graph, module, binding, at), at);
      case "variable": {
        const { init } = binding.node;
        if (binding.keyword !== "const" || init === null || binding.assigned.length > 0) {
          return new Unread(at, "may change after its declaration");
        }
        if (binding.keys === undefined) {
          return new Unread(at, "is taken apart with a default or a rest");
        }
        return binding.keys.reduce(
          (value, key) => this.member(value, key, at),
          this.read(module, init),
        );
      }
      case "function":
        return new Unread(at, "is a function");
      case "class":
        return new Unread(at, "is a class");
      case "parameter":
        return new Unread(at, "is a parameter");
      case "other": {
        const { node } = binding;
        const values = node.type === "TSEnumDeclaration" ? enumValues(node) : undefined;
        return values ?? new Unread(at, "is an enum with computed members, or a namespace");
      }
    }
  }

  /** `value.key`, as far as it is known without running anything. */
  member(value: unknown, key: string, at: Place): unknown {
    if (value instanceof Unread) return value;
    if (value instanceof PackageValue) return value.member(key);
    if (value instanceof ModuleValue) {
      const origin = exportOrigin(this.#graph, value.module, key);
      return origin ? this.#origin(origin, at) : new Unread(at, "is not exported by that file");
    }
    if (isSchema(value)) {
      const found: unknown = SCHEMA_MEMBERS.has(key) ? Reflect.get(value, key) : undefined;
      return found ?? new Unread(at, `reads ${key} of a schema`);
    }
    if ((Array.isArray(value) || isPlainObject(value)) && Object.hasOwn(value, key)) {
      return Reflect.get(value, key);
    }
    return new Unread(at, "is no member of an object or array written out in the files sent");
  }

  #valueOf(module: SourceModule, node: Node): unknown {
    const at: Place = { module, node };
    switch (node.type) {
      case "Literal":
        return "regex" in node ? regExp(node.regex, at) : node.value;
      case "TemplateLiteral": {
        const parts = node.expressions.map((part) => this.read(module, part));
        return this.#text(textOf(node.quasis, parts, at));
      }
      case "BinaryExpression":
      case "UnaryExpression": {
        const operands =
          node.type === "UnaryExpression" ? [node.argument] : [node.left, node.right];
        const values = operands.map((operand) => this.read(module, operand));
        return this.#text(operation(node.operator, values, at));
      }
      case "ArrayExpression":
        return this.#array(module, node.elements);
      case "ObjectExpression":
        return this.#object(module, node);
      case "Identifier": {
        const binding = module.references.get(node) ?? module.declarations.get(node);
        return binding ? this.named(module, binding, at) : globalValue(node.name, at);
      }
      case "MemberExpression": {
        if (node.optional) return new Unread(at, "is a conditional");
        const object = this.read(module, node.object);
        const key = node.computed ? this.read(module, node.property) : propertyName(node.property);
        if (typeof key === "string" || typeof key === "number") {
          return this.member(object, String(key), at);
        }
        return new Unread(at, "reads a member whose name is not static");
      }
      case "CallExpression":
        return this.#call(module, node);
      case "ArrowFunctionExpression":
      case "FunctionExpression":
        return new FunctionValue(module, node);
      default:
        return new Unread(at, describeExpression(node));
    }
  }

  #call(module: SourceModule, node: CallExpression): unknown {
    const at: Place = { module, node };
    if (node.optional) return new Unread(at, "is a conditional");
    const callee = unwrap(node.callee);
    const values = () => node.arguments.map((argument) => this.#argument(module, argument));
    this.#graph.spend(CALL);
    if (callee.type === "MemberExpression") {
      const receiver = this.read(module, callee.object);
      const name = callee.computed ? undefined : propertyName(callee.property);
      if (receiver instanceof Unread) return receiver;
      if (isSchema(receiver) && name !== undefined) {
        return this.#calls.method(receiver, { name, values: values(), place: at });
      }
    }
    const target = this.read(module, callee);
    if (target instanceof Unread) return new Unread(at, target.reason);
    if (target instanceof PackageValue) return this.#calls.build(target, values(), at);
    return new Unread(at, "is a call");
  }

  #argument(module: SourceModule, node: Node): unknown {
    if (node.type !== "SpreadElement") return this.read(module, node);
    return new Unread({ module, node }, "spreads arguments");
  }

  #array(module: SourceModule, elements: readonly (Node | null)[]): unknown {
    const values: unknown[] = [];
    for (const element of elements) {
      if (element?.type !== "SpreadElement") {
        values.push(element === null ? undefined : this.read(module, element));
        continue;
      }
      const spread = this.read(module, element.argument);
      const at = { module, node: element.argument };
      if (!Array.isArray(spread)) {
        return spread instanceof Unread ? spread : new Unread(at, "is spread but is not an array");
      }
      this.#graph.spend(spread.length);
      values.push(...(spread as unknown[]));
    }
    return values;
  }

  #object(module: SourceModule, { properties }: ObjectExpression): unknown {
    const object = {};
    for (const property of properties) {
      if (property.type === "SpreadElement") {
        const at = { module, node: property.argument };
        const spread = this.read(module, property.argument);
        if (spread instanceof Unread) return spread;
        if (!isPlainObject(spread)) return new Unread(at, "is spread but is not an object");
        const members = Object.getOwnPropertyDescriptors(spread);
        this.#graph.spend(Object.keys(members).length);
        Object.defineProperties(object, members);
        continue;
      }
      const key = this.#keyOf(module, property);
      if (key instanceof Unread) return key;
      Object.defineProperty(object, key, this.#memberOf(module, property));
    }
    return object;
  }

  #keyOf(module: SourceModule, property: ObjectProperty): string | Unread {
    const at: Place = { module, node: property };
    const key = property.computed ? this.read(module, property.key) : propertyName(property.key);
    if (key instanceof Unread) return key;
    const isKey = (typeof key === "string" || typeof key === "number") && key !== "__proto__";
    return isKey ? String(key) : new Unread(at, "has a key that is not static");
  }

  #memberOf(module: SourceModule, property: ObjectProperty): PropertyDescriptor {
    const common = { enumerable: true, configurable: true };
    const value = property.value;
    if (property.kind === "init") return { ...common, value: this.read(module, value) };
    const place: Place = { module, node: property };
    const getter = value.type === "FunctionExpression" && new FunctionValue(module, value);
    const returned = getter && property.kind === "get" ? getter.returned : undefined;
    if (!returned) return { ...common, value: new Unread(place, "is a getter or setter") };
    return { ...common, get: () => this.read(module, returned) };
  }

  #origin(origin: Origin, at: Place): unknown {
    switch (origin.kind) {
      case "binding":
        return this.named(origin.module, origin.binding, at);
      case "node":
        return this.read(origin.module, origin.node);
      case "module":
        return new ModuleValue(origin.module);
      case "package":
        return new PackageValue(origin.source, origin.keys);
      case "global":
        return new Unread(at, "is known only at run time");
      case "unknown":
        return new Unread(at, origin.reason);
    }
  }

  #text(value: unknown): unknown {
    if (typeof value === "string") this.#graph.spend(value.length / 100);
    return value;
  }

  /** Of schemas that an expression is read for; the gaps become known when it is converted. */
  schemaOf(place: Place): z.ZodType | Unread | undefined {
    const value = this.read(place.module, place.node);
    if (value === undefined || isSchema(value)) return value;
    if (value instanceof Unread) return value;
    if (value instanceof PackageValue) {
      return new Unread(place, `comes from the package ${value.source}`);
    }
    return new Unread(place, "is not a schema of zod");
  }
}

/** Steps that a call counts for: making a schema costs more than reading a literal. */
const CALL = 10;

function regExp({ pattern, flags }: { pattern: string; flags: string }, at: Place): unknown {
  try {
    return new RegExp(pattern, flags.replace(/[gyd]/g, ""));
  } catch {
    return new Unread(at, "is not a regular expression here");
  }
}

function globalValue(name: string, at: Place): unknown {
  if (KNOWN_GLOBALS.has(name)) return KNOWN_GLOBALS.get(name);
  return new Unread(at, `reads ${name}, which is known only at run time`);
}

const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER, EPSILON, MAX_VALUE } = Number;
const KNOWN_GLOBALS = new Map<string, unknown>([
  ...GLOBALS,
  ["Number", { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER, EPSILON, MAX_VALUE }],
]);
