import vm from "node:vm";
import type { Json } from "@engine/contract";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";

export interface SchemaValidator {
  /** What a value violates: all of it for small inputs, the first thing for large ones. */
  errorsOf(value: Json): readonly SchemaError[];
}

/** Of ajv, or that the check took too long. */
export type SchemaError = ErrorObject | "timeout";

type Schema = Record<string, Json>;

/** Compiled schemas by their text, the one used last at the end. */
const compiled = new Map<string, SchemaValidator | undefined>();
const MAX_COMPILED = 256;
/** Spares the text: a version that is started often is the same object each time. */
const seen = new WeakMap<Schema, SchemaValidator | undefined>();

/** Undefined for a schema that cannot be used here, by which nothing is refused. */
export function validatorOf(schema: Schema): SchemaValidator | undefined {
  if (seen.has(schema)) return seen.get(schema);
  const text = JSON.stringify(schema);
  const validator = compiled.has(text) ? compiled.get(text) : compile(schema, text);
  compiled.delete(text);
  compiled.set(text, validator);
  const [oldest] = compiled.keys();
  if (compiled.size > MAX_COMPILED && oldest !== undefined) compiled.delete(oldest);
  seen.set(schema, validator);
  return validator;
}

function compile(schema: Schema, text: string): SchemaValidator | undefined {
  let first: ValidateFunction;
  try {
    first = compileWith(schema, false);
  } catch {
    // Metadata of the author's can make a schema that is none.
    return undefined;
  }
  let all: ValidateFunction | undefined;
  const isGuarded = SLOW.test(text);
  const errors = (validate: ValidateFunction, value: Json): readonly SchemaError[] => {
    try {
      const isValid = isGuarded ? guarded(() => validate(value)) : validate(value);
      return isValid === "timeout" ? ["timeout"] : isValid ? [] : (validate.errors ?? []);
    } catch (error) {
      // A schema that stands for itself never comes to an end, and says nothing.
      if (error instanceof RangeError) return [];
      throw error;
    }
  };
  return {
    errorsOf(value) {
      const found = errors(first, value);
      if (found.length === 0 || found[0] === "timeout") return found;
      if (text.length * JSON.stringify(value).length > MAX_PRODUCT) return found;
      all ??= compileWith(schema, true);
      return errors(all, value);
    },
  };
}

/** Past it the list of all errors may be longer than anyone reads, or memory holds. */
const MAX_PRODUCT = 16_000_000;

function compileWith(schema: Schema, allErrors: boolean): ValidateFunction {
  const ajv = new Ajv2020({
    allErrors,
    verbose: true,
    messages: false,
    strict: false,
    logger: false,
    validateSchema: false,
    // Formats are not asserted (EXE-83).
    validateFormats: false,
    // As the author's zod counts: what it accepts must pass.
    unicode: false,
    multipleOfPrecision: 4,
    ownProperties: true,
    code: { regExp: Object.assign(regExp, { code: "regExp" }) },
  });
  return ajv.compile(schema);
}

/** Which flags a pattern was written with is not known; it fits when it does under any of them. */
function regExp(pattern: string): { test(text: string): boolean } {
  const readings = ["", "u", "v"].flatMap((flags) => {
    try {
      return [new RegExp(pattern, flags)];
    } catch {
      return [];
    }
  });
  return {
    test: (text) => readings.length === 0 || readings.some((reading) => reading.test(text)),
  };
}

/** Patterns and recursion may take exponential time; without them the schema's size is the limit. */
const SLOW = /"(?:pattern|patternProperties|\$ref)":/;
const LIMIT_MS = 500;

const sandbox: { check: () => unknown } = { check: () => true };
const script = new vm.Script("check()");
let context: vm.Context | undefined;

/** Runs a check that ends after {@link LIMIT_MS} whatever it does: nothing else can stop a regular expression. */
function guarded(check: () => unknown): unknown {
  context ??= vm.createContext(sandbox);
  sandbox.check = check;
  try {
    return script.runInContext(context, { timeout: LIMIT_MS });
  } catch (error) {
    const isTimeout = (error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    if (isTimeout) return "timeout";
    throw error;
  }
}
