import { OPAQUE } from "@engine/contract";
import type {
  ArrayExpression,
  BinaryExpression,
  Node,
  ObjectExpression,
  ObjectProperty,
  PrivateInExpression,
  TemplateLiteral,
  UnaryExpression,
} from "oxc-parser";
import { propertyName } from "../modules/binding.ts";
import { resolve, type Target, unwrap } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { Finding } from "../modules/source-issues.ts";
import type { CallPlace, Place } from "../modules/source-module.ts";

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
  /** What builders made, each with where it is written and the option it belongs to. */
  made: Made[];
}

export interface Made {
  readonly value: unknown;
  readonly place: Place;
  readonly path: string;
}

/** One thing that is wrong with a call of a builder. */
export interface BuildProblem {
  readonly message: string;
  /** Which argument, from 0; null or absent: the call as a whole. */
  readonly argument?: number | null;
  /** The option it concerns, empty for none. */
  readonly option?: string;
}

/** What a builder of the SDK makes of its arguments. */
export type Built =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly BuildProblem[] };

/** A call that stands for a value. */
export interface Builder {
  /** What it is a member of, such as `label("a")` of `label("a").eq("b")`; read first. */
  readonly of?: Place;
  /** Undefined: what it is a member of has no such one. */
  build(values: readonly unknown[], of: unknown): Built | undefined;
  /** The option that an argument is; absent: the one that the call is. */
  pathOf?(argument: number): Path;
}

export interface EvaluateOptions {
  /** Whether the value at this path is wanted; others become {@link OPAQUE} unread. */
  wants(path: Path): boolean;
  /** Of a call that stands for a value, what makes it; undefined for every other call. */
  builderOf?(call: CallPlace, path: Path): Builder | undefined;
  /** What else may stand there, in words that end a list of forms. */
  alsoAllowed?(path: Path): string | undefined;
  /** Names the option in messages, such as `workflow() option`. */
  owner: string;
}

const STATIC_FORMS =
  "allowed are literals, templates and + of them, arrays, objects, spreads, unary operators, and const bindings that lead to such expressions in the files sent";

const MAX_TEXT = 100_000;
type Primitive = string | number | bigint | boolean | null | undefined;
type Members = Record<string, unknown>;
/** The names that lead to an option. */
type Path = readonly string[];

export function evaluate(
  graph: SourceGraph,
  place: Place,
  { wants, builderOf, alsoAllowed, owner }: EvaluateOptions,
): Evaluated {
  const findings: Finding[] = [];
  const written = new Map<string, Place>();
  const incomplete = new Set<string>();
  const made: Made[] = [];
  /** Where what a builder made is written, however many names lead there. */
  const builtAt = new WeakMap<object, Place>();
  return { value: read(place, []), findings, written, incomplete, made };

  function read({ module, node: wrapped }: Place, path: Path): unknown {
    graph.spend(1);
    const node = unwrap(wrapped);
    if (node.type === "Literal") {
      return "regex" in node ? fail({ module, node }, path, "is a regular expression") : node.value;
    }
    if (node.type === "TemplateLiteral") return template({ module, node }, path);
    if (node.type === "BinaryExpression") return sum({ module, node }, path);
    if (node.type === "UnaryExpression") return unary({ module, node }, path);
    if (node.type === "ArrayExpression") return array({ module, node }, path);
    if (node.type === "ObjectExpression") {
      const value = {};
      object({ module, node }, path, value);
      return value;
    }
    if (node.type === "Identifier" || node.type === "MemberExpression") {
      return follow(resolve(graph, { module, node }), path);
    }
    if (node.type === "CallExpression") {
      const builder = builderOf?.({ module, node }, path);
      if (builder) return built(builder, { module, node }, path);
    }
    return fail({ module, node }, path, describeExpression(node));
  }

  /** A builder's options are read as if they stood in place of its call. */
  function built(builder: Builder, call: CallPlace, path: Path): unknown {
    const before = findings.length;
    const of = builder.of && read(builder.of, path);
    const values = call.node.arguments.flatMap((node, index) =>
      argument({ module: call.module, node }, builder.pathOf?.(index) ?? path),
    );
    if (findings.length > before) return OPAQUE;
    const result = builder.build(
      values.map(({ value }) => value),
      of,
    );
    if (!result) return fail(call, path, "is a call");
    if (!result.issues) {
      const { value } = result;
      if (isObject(value)) builtAt.set(value, call);
      made.push({ value, place: call, path: path.join(".") });
      return value;
    }
    for (const { argument, option = "", message } of result.issues) {
      const given = values[argument ?? -1];
      const inner = given?.path ?? path;
      const at = (option === "" ? inner : [...inner, option]).join(".");
      const place =
        (option === "" ? undefined : written.get(at)) ??
        (isObject(given?.value) ? builtAt.get(given.value) : undefined) ??
        given?.at ??
        call;
      findings.push({ rule: "invalid_option", message, place, path: at });
    }
    return OPAQUE;
  }

  function argument(at: Place, path: Path): { value: unknown; at: Place; path: Path }[] {
    if (at.node.type !== "SpreadElement") return [{ value: read(at, path), at, path }];
    const list = { module: at.module, node: at.node.argument };
    const values = read(list, path);
    if (Array.isArray(values)) {
      graph.spend(values.length);
      return values.map((value: unknown) => ({ value, at, path }));
    }
    if (values !== OPAQUE) fail(list, path, "is spread but is not an array");
    return [];
  }

  function follow(target: Target, path: Path): unknown {
    switch (target.kind) {
      case "node":
        return read(target, path);
      case "module":
        return fail(target.at, path, "is a whole file");
      case "package":
        return fail(target.at, path, `is a value of the package ${target.source}`);
      case "global":
        if (target.keys.length === 0 && GLOBALS.has(target.name)) return GLOBALS.get(target.name);
        return fail(target.at, path, `reads ${target.name}, which is known only at run time`);
      case "unknown":
        return fail(target.at, path, target.reason);
    }
  }

  function template(at: Place<TemplateLiteral>, path: Path): unknown {
    const { quasis, expressions } = at.node;
    let text: string | undefined = quasis[0]?.value.cooked ?? "";
    expressions.forEach((node, index) => {
      const part = primitive({ module: at.module, node }, path);
      if (part === OPAQUE) text = undefined;
      else if (text !== undefined) text += `${part}${quasis[index + 1]?.value.cooked ?? ""}`;
      graph.spend((text?.length ?? 0) / 100);
    });
    return text === undefined ? OPAQUE : short(text, at, path);
  }

  function sum(at: Place<BinaryExpression | PrivateInExpression>, path: Path): unknown {
    const { module, node } = at;
    if (node.operator !== "+") return fail(at, path, `computes with ${node.operator}`);
    const left = primitive({ module, node: node.left }, path);
    const right = primitive({ module, node: node.right }, path);
    if (left === OPAQUE || right === OPAQUE) return OPAQUE;
    if (typeof left === "string" || typeof right === "string") {
      graph.spend((String(left).length + String(right).length) / 100);
      return short(`${left}${right}`, at, path);
    }
    if (typeof left === "bigint" && typeof right === "bigint") return left + right;
    if (typeof left === "bigint" || typeof right === "bigint") {
      return fail(at, path, "adds a bigint and another type");
    }
    return Number(left) + Number(right);
  }

  function unary(at: Place<UnaryExpression>, path: Path): unknown {
    const { operator, argument } = at.node;
    if (operator === "delete") return fail(at, path, "deletes a member");
    const isArithmetic = operator === "+" || operator === "-" || operator === "~";
    const value = (isArithmetic ? primitive : read)({ module: at.module, node: argument }, path);
    if (value === OPAQUE) return OPAQUE;
    switch (operator) {
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
        return typeof value === "bigint"
          ? fail(at, path, "makes a bigint a number")
          : Number(value);
    }
  }

  function array({ module, node: { elements } }: Place<ArrayExpression>, path: Path): unknown[] {
    const values: unknown[] = [];
    for (const element of elements) {
      if (element?.type !== "SpreadElement") {
        const inner = [...path.slice(0, -1), `${path.at(-1) ?? ""}[${values.length}]`];
        if (element === null) {
          values.push(undefined);
          continue;
        }
        written.set(inner.join("."), { module, node: element });
        values.push(read({ module, node: element }, inner));
        continue;
      }
      const at = { module, node: element.argument };
      const spread = read(at, path);
      if (Array.isArray(spread)) {
        graph.spend(spread.length);
        for (const value of spread) values.push(value);
      } else if (spread !== OPAQUE) {
        fail(at, path, "is spread but is not an array");
      }
    }
    return values;
  }

  function object({ module, node }: Place<ObjectExpression>, path: Path, into: Members): void {
    for (const property of node.properties) {
      if (property.type === "SpreadElement") {
        spread({ module, node: property.argument }, path, into);
        continue;
      }
      const at = { module, node: property };
      const key = keyOf(at, path);
      if (key === undefined) {
        incomplete.add(path.join("."));
        continue;
      }
      const inner = [...path, key];
      written.set(inner.join("."), at);
      if (!wants(inner)) {
        // A literal needs no evaluation, and shows at once that it is no function or schema.
        const value = unwrap(property.value);
        into[key] = value.type === "Literal" && !("regex" in value) ? value.value : OPAQUE;
      } else if (property.kind !== "init") {
        into[key] = fail(at, inner, "is a getter or setter");
      } else {
        into[key] = read({ module, node: property.value }, inner);
      }
    }
  }

  function keyOf(at: Place<ObjectProperty>, path: Path): string | undefined {
    const { computed, key: node } = at.node;
    const key = computed ? primitive({ module: at.module, node }, path) : propertyName(node);
    if (key === OPAQUE) return undefined;
    if (key !== "__proto__" && key !== undefined) return String(key);
    fail(at, path, `has the key ${String(key)}`);
    return undefined;
  }

  /** An object is read in place, so that its options are known by the paths they end up at. */
  function spread(at: Place, path: Path, into: Members): void {
    const target = resolve(graph, at);
    if (target.kind === "node" && target.node.type === "ObjectExpression") {
      object({ module: target.module, node: target.node }, path, into);
      return;
    }
    const value = follow(target, path);
    if (value === OPAQUE) incomplete.add(path.join("."));
    else if (value !== null && value !== undefined) {
      fail(at, path, "is spread but is not an object");
      incomplete.add(path.join("."));
    }
  }

  function primitive(at: Place, path: Path): Primitive | typeof OPAQUE {
    const value = read(at, path);
    if (value === OPAQUE || value === null || typeof value !== "object") {
      return value as Primitive | typeof OPAQUE;
    }
    return fail(at, path, "is an object where text or a number is needed");
  }

  function short(text: string, at: Place, path: Path): unknown {
    return text.length <= MAX_TEXT ? text : fail(at, path, "makes a very long text");
  }

  function fail(place: Place, path: Path, reason: string): typeof OPAQUE {
    const option = path.length === 0 ? "the options" : `option ${path.join(".")}`;
    const text = place.module.source.slice(place.node.start, place.node.end);
    const message = `${option} of ${owner} must be static, but ${brief(text)} ${reason}; ${STATIC_FORMS}${alsoAllowed?.(path) ?? ""}`;
    findings.push({ rule: "not_static", message, place, path: path.join(".") });
    return OPAQUE;
  }
}

/** Names of the surroundings that always stand for the same value. */
export const GLOBALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["undefined", undefined],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
]);

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

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
