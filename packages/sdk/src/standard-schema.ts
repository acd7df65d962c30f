/** The part of the Standard Schema interface that zod, valibot, arktype and others implement. */
export interface StandardSchema<In = unknown, Out = In> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Out> | Promise<SchemaResult<Out>>;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
}

export type SchemaResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaInput<S> = S extends StandardSchema<infer In, unknown> ? In : never;
export type SchemaOutput<S> = S extends StandardSchema<infer _In, infer Out> ? Out : never;

/** The issues as one line: `name: expected string; items.0: required`. */
function issueText(issues: readonly SchemaIssue[]): string {
  return issues
    .map((issue) => [issuePath(issue), issue.message].filter(Boolean).join(": "))
    .join("; ");
}

function issuePath({ path = [] }: SchemaIssue): string {
  return path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
}

/** What came of a check: the value as the schema gives it, or what is wrong as text. */
export type Checked = { value: unknown; issues?: undefined } | { issues: string };

export async function checkSchema(schema: StandardSchema, value: unknown): Promise<Checked> {
  const result = await schema["~standard"].validate(value);
  return result.issues ? { issues: issueText(result.issues) } : { value: result.value };
}
