type Values = Readonly<Record<string, unknown>>;

/**
 * Where the secrets and configs that tasks declare come from, in place of the server. Names that do not exist are absent
 * from the answer. A rejection with an EngineError is final; anything else is tried again.
 */
export interface ValuesSource {
  secrets(execution_id: string, task: string, names: readonly string[]): Promise<Values>;
  /** @param task Null asks on behalf of the workflow's own code. */
  configs(execution_id: string, task: string | null, names: readonly string[]): Promise<Values>;
}
