import { functionAt } from "../modules/functions.ts";
import { type SourceGraph, TooIntricate } from "../modules/source-graph.ts";
import type { Finding } from "../modules/source-issues.ts";
import type { Place } from "../modules/source-module.ts";
import type { Definition } from "../workflows/definition.ts";
import { ExpressionReader } from "./expression-reader.ts";
import { type Converted, type JsonSchema, type Side, toJsonSchema } from "./json-schema.ts";
import { NamedValues } from "./named-values.ts";
import { NO_VALUE, ReturnReader, settled } from "./return-reader.ts";
import { SchemaNotes } from "./schema-notes.ts";
import { TypeNames } from "./type-names.ts";
import { TypeReader } from "./type-reader.ts";
import { NotExtracted, Unread } from "./unread.ts";

export interface SchemasRead {
  /** Null = not known: any value. */
  readonly input_schema: JsonSchema | null;
  readonly output_schema: JsonSchema | null;
  /** The parts of the input that are not known although they are declared (EXE-65). */
  readonly warnings: readonly Finding[];
}

/**
 * Steps for all schemas of the files, and one more for each character of them: a hostile file ends
 * here, an honest one uses some dozens for each workflow.
 */
const STEPS = 150_000;
/** Limit for all schemas of the files: one that many workflows share is written out for each. */
const MAX_TEXT = 32 * 1024 * 1024;

/** Reads the schemas of one workflow after another, without running any of the files (EXE-63). */
export function createSchemaReader(
  files: SourceGraph,
): (definition: Pick<Definition, "place" | "schemas" | "body">) => SchemasRead {
  let left = files.modules.reduce((steps, { source }) => steps + source.length, STEPS);
  let room = MAX_TEXT;
  const graph: SourceGraph = {
    ...files,
    spend(steps) {
      left -= steps;
      if (left < 0) throw new TooIntricate();
    },
  };
  const notes = new SchemaNotes();
  const expressions = new ExpressionReader(graph, notes);
  const parts = { names: new TypeNames(graph), values: new NamedValues(expressions) };

  return ({ place, schemas, body }) => {
    const declared = declaredTypes(files, place, body);
    const input = schemas.input ? ofOption(schemas.input, "input") : undefined;
    const output = schemas.output ? ofOption(schemas.output, "output") : undefined;
    const read = input ?? ofType(declared.input, declared.isOptional);
    return {
      input_schema: read.schema,
      output_schema: (
        output ?? (declared.output ? ofType(declared.output, false) : ofReturns(body))
      ).schema,
      warnings: read.warnings,
    };
  };

  function ofOption(place: Place, side: Side): Read | undefined {
    const read = attempt(place, CHECKED_ON_WORKER, () => {
      const schema = expressions.schemaOf(place);
      if (schema instanceof Unread) throw new NotExtracted(schema);
      return schema && toJsonSchema(schema, () => side, { notes, place });
    });
    return read === NOTHING ? undefined : read;
  }

  function ofType(place: Place | undefined, isOptional: boolean): Read {
    if (!place || NO_VALUE.has(place.node.type)) return NOTHING;
    return attempt(place, "inputs are not checked against the type", () => {
      const reader = new TypeReader(graph, notes, parts);
      const type = reader.read(place);
      const schema = isOptional ? type.nullable() : type;
      return toJsonSchema(schema, () => reader.side(place), { notes, place });
    });
  }

  /** Of a body that does not say what it returns. */
  function ofReturns(body: Place | undefined): Read {
    const place = body && functionAt(files, body);
    if (!place) return NOTHING;
    return attempt(place, "", () => {
      const reader = new TypeReader(graph, notes, parts);
      const returns = new ReturnReader({
        graph,
        typed: (at) => reader.read(at),
        schema: (at) => {
          const schema = expressions.schemaOf(at);
          return schema instanceof Unread ? undefined : schema;
        },
      });
      const schema = returns.ofFunction(place.module, place.node);
      return schema && toJsonSchema(schema, () => reader.side(place, "output"), { notes, place });
    });
  }

  function attempt(place: Place, then: string, read: () => Converted | undefined): Read {
    try {
      const converted = read();
      if (converted === undefined) return NOTHING;
      const { schema, gaps, bytes } = converted;
      room -= bytes;
      if (room < 0) throw new TooIntricate();
      const warnings = gaps.map(({ place, reason }) =>
        warning(place, `this part of the input schema is open, because it ${reason}; ${then}`),
      );
      return { schema, warnings };
    } catch (error) {
      const part = partOf(error, place);
      const message = `the input schema is not known to the engine, because it ${part.reason}; ${then}`;
      return { schema: null, warnings: [warning(part.place, message)] };
    }
  }
}

interface Read {
  readonly schema: JsonSchema | null;
  readonly warnings: readonly Finding[];
}

function warning(place: Place, message: string): Finding {
  return { rule: "schema_not_extracted", message, place, path: "input_schema" };
}

const NOTHING: Read = { schema: null, warnings: [] };
const CHECKED_ON_WORKER = "the worker checks inputs with the schema itself";

/** A schema that cannot be read is a warning, whatever is wrong with it: the worker has the last word. */
function partOf(error: unknown, place: Place): Unread {
  if (error instanceof NotExtracted) return error.part;
  if (error instanceof TooIntricate || error instanceof RangeError) {
    return new Unread(place, "is larger than the engine reads");
  }
  return new Unread(place, "is refused by zod's conversion to JSON Schema");
}

interface DeclaredTypes {
  readonly input: Place | undefined;
  readonly output: Place | undefined;
  /** Whether the body may be called without an input. */
  readonly isOptional: boolean;
}

/** The types of a body: those given to `workflow<Input, Output>(…)`, else those it is written with. */
function declaredTypes(
  graph: SourceGraph,
  { module, node }: Definition["place"],
  body: Place | undefined,
): DeclaredTypes {
  const [input, output] = node.typeArguments?.params ?? [];
  const own = body ? annotations(graph, body) : NO_TYPES;
  return {
    input: input ? { module, node: input } : own.input,
    output: output ? { module, node: output } : own.output,
    isOptional: input ? false : own.isOptional,
  };
}

const NO_TYPES: DeclaredTypes = { input: undefined, output: undefined, isOptional: false };

function annotations(graph: SourceGraph, body: Place): DeclaredTypes {
  const found = functionAt(graph, body);
  if (!found) return NO_TYPES;
  const { module, node } = found;
  const [first] = node.params;
  const written = first?.type === "AssignmentPattern" ? first.left : first;
  const annotation = written && "typeAnnotation" in written ? written.typeAnnotation : undefined;
  const input =
    annotation && "typeAnnotation" in annotation ? annotation.typeAnnotation : undefined;
  const isOptional =
    first?.type === "AssignmentPattern" ||
    (written !== undefined && "optional" in written && written.optional === true);
  const output = node.returnType && settled(node.returnType.typeAnnotation);
  return {
    input: input && { module, node: input },
    output: output ? { module, node: output } : undefined,
    isOptional,
  };
}
