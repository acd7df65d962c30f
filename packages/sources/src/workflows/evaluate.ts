import { OPAQUE } from "@engine/contract";
import type {
  CallExpression,
  Node,
  ObjectProperty,
  ObjectPropertyKind,
  TemplateLiteral,
  UnaryExpression,
} from "oxc-parser";
import { propertyName } from "../modules/binding.ts";
import { resolve, type Target, unwrap } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { Finding } from "../modules/source-issues.ts";
import type { Place, SourceModule } from "../modules/source-module.ts";

/**
 * Static evaluation (EXE-62): the value an expression has whatever happens at run time, without
 * running anything. What is not static becomes a finding at its own place and {@link OPAQUE} in the
 * value, so that one pass finds every mistake.
 */
export interface Evaluated {
  value: unknown;
  findings: Finding[];
  /** Where each option is written, by its path; the property, so that its key is in view. */
  written: Map<string, Place>;
  /** Paths of objects some of whose members could not be read. */
  incomplete: Set<string>;
}

/** What a builder of the SDK makes of its arguments. */
export type Built =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly option: string; readonly message: string }[] };
export type Build = (values: readonly unknown[]) => Built;

export interface EvaluateOptions {
  /** Whether the value at this path is wanted; others become {@link OPAQUE} unread. */
  wants(path: readonly string[]): boolean;
  /** Of a call that stands for a value, what makes it; undefined for every other call. */
  builderOf?(call: Place & { node: CallExpression }, path: readonly string[]): Build | undefined;
  /** Names the option in messages, such as `workflow() option`. */
  owner: string;
}

const STATIC_FORMS =
  "allowed are literals, templates and + of them, arrays, objects, spreads, unary operators, and const bindings that lead to such expressions in the files sent";

const MAX_TEXT = 100_000;
type Primitive = string | number | bigint | boolean | null | undefined;

export function evaluate(
  graph: SourceGraph,
  place: Place,
  { wants, builderOf, owner }: EvaluateOptions,
): Evaluated {
  const findings: Finding[] = [];
  const written = new Map<string, Place>();
  const incomplete = new Set<string>();
  return { value: read(place.module, place.node, []), findings, written, incomplete };

  function read(module: SourceModule, wrapped: Node, path: readonly string[]): unknown {
    graph.spend(1);
    const node = unwrap(wrapped);
    if (node.type === "Literal") {
      return "regex" in node ? fail(module, node, path, "is a regular expression") : node.value;
    }
    if (node.type === "TemplateLiteral") return template(module, node, path);
    if (node.type === "BinaryExpression") return sum(module, node, path);
    if (node.type === "UnaryExpression") return unary(module, node, path);
    if (node.type === "ArrayExpression") return array(module, node.elements, path);
    if (node.type === "ObjectExpression") {
      const value = {};
      object(module, node.properties, path, value);
      return value;
    }
    if (node.type === "Identifier" || node.type === "MemberExpression") {
      return follow(resolve(graph, { module, node }), path);
    }
    if (node.type === "CallExpression") {
      const build = builderOf?.({ module, node }, path);
      if (build) return built(build, { module, node }, path);
    }
    return fail(module, node, path, describeExpression(node));
  }

  /** A builder's options are read as if they stood in place of its call. */
  function built(
    build: Build,
    { module, node: call }: Place & { node: CallExpression },
    path: readonly string[],
  ): unknown {
    const before = findings.length;
    const values = call.arguments.map((node) =>
      node.type === "SpreadElement"
        ? fail(module, node, path, "is a spread")
        : read(module, node, path),
    );
    if (findings.length > before) return OPAQUE;
    const result = build(values);
    if (!result.issues) return result.value;
    for (const { option, message } of result.issues) {
      const at = [...path, option].filter((part) => part !== "").join(".");
      const place = (option === "" ? undefined : written.get(at)) ?? { module, node: call };
      findings.push({ rule: "invalid_option", message, place, path: at });
    }
    return OPAQUE;
  }

  function follow(target: Target, path: readonly string[]): unknown {
    switch (target.kind) {
      case "node":
        return read(target.module, target.node, path);
      case "module":
        return failAt(target.at, path, "is a whole file");
      case "package":
        return failAt(target.at, path, `is a value of the package ${target.source}`);
      case "global":
        if (target.keys.length === 0 && GLOBALS.has(target.name)) return GLOBALS.get(target.name);
        return failAt(target.at, path, `reads ${target.name}, which is known only at run time`);
      case "unknown":
        return failAt(target.at, path, target.reason);
    }
  }

  function template(module: SourceModule, node: TemplateLiteral, path: readonly string[]): unknown {
    let text: string | undefined = node.quasis[0]?.value.cooked ?? "";
    node.expressions.forEach((expression, index) => {
      const part = primitive(module, expression, path);
      if (part === OPAQUE) text = undefined;
      else if (text !== undefined) text += `${part}${node.quasis[index + 1]?.value.cooked ?? ""}`;
      graph.spend((text?.length ?? 0) / 100);
    });
    return text === undefined ? OPAQUE : short(text, module, node, path);
  }

  function sum(
    module: SourceModule,
    node: Node & { type: "BinaryExpression" },
    path: readonly string[],
  ): unknown {
    if (node.operator !== "+") return fail(module, node, path, `computes with ${node.operator}`);
    const left = primitive(module, node.left, path);
    const right = primitive(module, node.right, path);
    if (left === OPAQUE || right === OPAQUE) return OPAQUE;
    if (typeof left === "string" || typeof right === "string") {
      graph.spend((String(left).length + String(right).length) / 100);
      return short(`${left}${right}`, module, node, path);
    }
    if (typeof left === "bigint" && typeof right === "bigint") return left + right;
    if (typeof left === "bigint" || typeof right === "bigint") {
      return fail(module, node, path, "adds a bigint and another type");
    }
    return Number(left) + Number(right);
  }

  function unary(module: SourceModule, node: UnaryExpression, path: readonly string[]): unknown {
    if (node.operator === "delete") return fail(module, node, path, "deletes a member");
    const value =
      node.operator === "+" || node.operator === "-" || node.operator === "~"
        ? primitive(module, node.argument, path)
        : read(module, node.argument, path);
    if (value === OPAQUE) return OPAQUE;
    switch (node.operator) {
      case "!":
        return !value;
      case "typeof":
        return typeof value;
      case "void":
        return undefined;
      case "-":
        return typeof value === "bigint" ? -value : -Number(value);
      case "~":
        return typeof value === "bigint" ? ~value : ~Number(value);
      case "+":
        if (typeof value === "bigint") return fail(module, node, path, "makes a bigint a number");
        return Number(value);
    }
  }

  function array(
    module: SourceModule,
    elements: readonly (Node | null)[],
    path: readonly string[],
  ): unknown[] {
    const values: unknown[] = [];
    for (const element of elements) {
      if (element?.type !== "SpreadElement") {
        const inner = [...path.slice(0, -1), `${path.at(-1) ?? ""}[${values.length}]`];
        values.push(element === null ? undefined : read(module, element, inner));
        continue;
      }
      const spread = read(module, element.argument, path);
      if (Array.isArray(spread)) {
        graph.spend(spread.length);
        for (const value of spread) values.push(value);
      } else if (spread !== OPAQUE) {
        fail(module, element.argument, path, "is spread but is not an array");
      }
    }
    return values;
  }

  function object(
    module: SourceModule,
    properties: readonly ObjectPropertyKind[],
    path: readonly string[],
    into: Record<string, unknown>,
  ): void {
    for (const property of properties) {
      if (property.type === "SpreadElement") {
        spread(module, property.argument, path, into);
        continue;
      }
      const key = keyOf(module, property, path);
      if (key === undefined) {
        incomplete.add(path.join("."));
        continue;
      }
      const inner = [...path, key];
      written.set(inner.join("."), { module, node: property });
      if (!wants(inner)) {
        // A literal needs no evaluation, and shows at once that it is no function or schema.
        const value = unwrap(property.value);
        into[key] = value.type === "Literal" && !("regex" in value) ? value.value : OPAQUE;
      } else if (property.kind !== "init") {
        into[key] = fail(module, property, inner, "is a getter or setter");
      } else {
        into[key] = read(module, property.value, inner);
      }
    }
  }

  function keyOf(
    module: SourceModule,
    property: ObjectProperty,
    path: readonly string[],
  ): string | undefined {
    const key = property.computed
      ? primitive(module, property.key, path)
      : propertyName(property.key);
    if (key === OPAQUE) return undefined;
    if (key !== "__proto__" && key !== undefined) return String(key);
    fail(module, property, path, `has the key ${String(key)}`);
    return undefined;
  }

  /** An object is read in place, so that its options are known by the paths they end up at. */
  function spread(
    module: SourceModule,
    argument: Node,
    path: readonly string[],
    into: Record<string, unknown>,
  ): void {
    const target = resolve(graph, { module, node: argument });
    if (target.kind === "node" && target.node.type === "ObjectExpression") {
      object(target.module, target.node.properties, path, into);
      return;
    }
    const value = follow(target, path);
    if (value === OPAQUE) incomplete.add(path.join("."));
    else if (value !== null && value !== undefined) {
      fail(module, argument, path, "is spread but is not an object");
      incomplete.add(path.join("."));
    }
  }

  function primitive(
    module: SourceModule,
    node: Node,
    path: readonly string[],
  ): Primitive | typeof OPAQUE {
    const value = read(module, node, path);
    if (value === OPAQUE || value === null || typeof value !== "object") {
      return value as Primitive | typeof OPAQUE;
    }
    return fail(module, node, path, "is an object where text or a number is needed");
  }

  function short(text: string, module: SourceModule, node: Node, path: readonly string[]): unknown {
    return text.length <= MAX_TEXT ? text : fail(module, node, path, "makes a very long text");
  }

  function fail(
    module: SourceModule,
    node: Node,
    path: readonly string[],
    reason: string,
  ): typeof OPAQUE {
    return failAt({ module, node }, path, reason);
  }

  function failAt(place: Place, path: readonly string[], reason: string): typeof OPAQUE {
    const option = path.length === 0 ? "the options" : `option ${path.join(".")}`;
    const text = place.module.source.slice(place.node.start, place.node.end);
    const message = `${option} of ${owner} must be static, but ${brief(text)} ${reason}; ${STATIC_FORMS}`;
    findings.push({ rule: "not_static", message, place, path: path.join(".") });
    return OPAQUE;
  }
}

const GLOBALS = new Map<string, unknown>([
  ["undefined", undefined],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
]);

function brief(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= 60 ? line : `${line.slice(0, 60)}…`;
}

export function describeExpression({ type }: Node): string {
  if (/^(?:Call|New|TaggedTemplate|Import)Expression$/.test(type)) return "is a call";
  if (/^(?:Conditional|Logical|Chain)Expression$/.test(type)) return "is a conditional";
  if (/^(?:ArrowFunctionExpression|Function)/.test(type)) return "is a function";
  if (/^Class/.test(type)) return "is a class";
  if (/^(?:Assignment|Update)Expression$/.test(type)) return "changes a variable";
  return "is known only at run time";
}
