/**
 * What the client knows of a workflow: the types it carries. It is a structure and not the SDK's
 * `Workflow`, so that a caller needs neither the SDK nor the workflow's code, only its type.
 */
export interface WorkflowShape {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the workflow takes
  readonly "~input"?: any;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the workflow gives
  readonly "~output"?: any;
}

/** What a workflow takes, as its type carries it. */
export type InputOf<W extends WorkflowShape> = Carried<W, "~input">;
/** What a workflow gives, before it is sent: see `Plain`. */
export type OutputOf<W extends WorkflowShape> = Carried<W, "~output">;

/**
 * Without exactOptionalPropertyTypes, which is a choice of the caller's project, `undefined` alone is
 * inferred as unknown; reading the member tells the two apart.
 */
type Carried<W extends WorkflowShape, Key extends keyof WorkflowShape> = Key extends keyof W
  ? W extends { readonly [K in Key]?: infer T }
    ? unknown extends T
      ? W[Key]
      : T
    : never
  : unknown;

/** The shape of a workflow of unknown types: any JSON in, any JSON out. */
export interface AnyWorkflowShape {
  readonly "~input"?: unknown;
  readonly "~output"?: unknown;
}
