import type { Json } from "@engine/contract";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { guarded } from "./guarded.ts";

export interface SchemaValidator {
  /** The schema as JSON. */
  readonly text: string;
  /**
   * What a value violates: everything for small inputs, the first thing for large ones. `timeout` when
   * the check took longer than that many milliseconds.
   */
  errorsOf(value: Json, limitMs: number): readonly ErrorObject[] | "timeout";
}

/** Makes the test for one pattern of a schema. */
export type MakeTest = (pattern: string) => (text: string) => boolean;

type Schema = Record<string, Json>;

/** Compiles schemas, and remembers those that were used last. */
export class SchemaValidators {
  readonly #makeTest: MakeTest;
  /** By their text, the last used at the end. */
  readonly #compiled = new Map<string, SchemaValidator | undefined>();
  /** By the object: the schema of a version that is started often need not be printed each time. */
  readonly #seen = new WeakMap<Schema, SchemaValidator | undefined>();

  constructor(makeTest: MakeTest) {
    this.#makeTest = makeTest;
  }

  /** Undefined for a schema that cannot be compiled: nothing is refused by it. */
  of(schema: Schema): SchemaValidator | undefined {
    if (this.#seen.has(schema)) return this.#seen.get(schema);
    const text = JSON.stringify(schema);
    const compiled = this.#compiled;
    const validator = compiled.has(text)
      ? compiled.get(text)
      : compile(schema, text, this.#makeTest);
    compiled.delete(text);
    compiled.set(text, validator);
    const [oldest] = compiled.keys();
    if (compiled.size > MAX_COMPILED && oldest !== undefined) compiled.delete(oldest);
    this.#seen.set(schema, validator);
    return validator;
  }
}

const MAX_COMPILED = 256;

function compile(schema: Schema, text: string, makeTest: MakeTest): SchemaValidator | undefined {
  let first: ValidateFunction;
  try {
    first = compileWith(schema, false, makeTest);
  } catch {
    // Metadata of the author's can make the schema invalid.
    return undefined;
  }
  let all: ValidateFunction | undefined;
  const isGuarded = SLOW.test(text);
  const errors = (validate: ValidateFunction, value: Json, limitMs: number) => {
    try {
      const isValid = isGuarded ? guarded(() => validate(value), limitMs) : validate(value);
      return isValid === "timeout" ? isValid : isValid ? [] : (validate.errors ?? []);
    } catch (error) {
      // A schema that refers to itself without end refuses nothing.
      if (error instanceof RangeError) return [];
      throw error;
    }
  };
  return {
    text,
    errorsOf(value, limitMs) {
      const found = errors(first, value, limitMs);
      if (found.length === 0 || found === "timeout") return found;
      if (text.length * JSON.stringify(value).length > MAX_PRODUCT) return found;
      all ??= compileWith(schema, true, makeTest);
      return errors(all, value, limitMs);
    },
  };
}

/** Size of schema times size of value, beyond which the list of all errors may outgrow memory. */
const MAX_PRODUCT = 16_000_000;

function compileWith(schema: Schema, allErrors: boolean, makeTest: MakeTest): ValidateFunction {
  const regExp = (pattern: string) => ({ test: makeTest(pattern) });
  const ajv = new Ajv2020({
    allErrors,
    verbose: true,
    messages: false,
    strict: false,
    logger: false,
    validateSchema: false,
    // Formats are not asserted (EXE-83).
    validateFormats: false,
    // Characters are counted as the author's zod counts them: what it accepts must pass.
    unicode: false,
    multipleOfPrecision: 4,
    ownProperties: true,
    code: { regExp: Object.assign(regExp, { code: "regExp" }) },
  });
  return ajv.compile(schema);
}

/** Patterns and recursion may take exponential time; other checks take time by the schema's size. */
const SLOW = /"(?:pattern|patternProperties|\$ref)":/;
