import type { ResolvedLimit } from "@engine/contract";
import type { SignalsAsked } from "./kept-signals.ts";

/** What a job needs and the transaction has not read yet. */
export type Need =
  | { readonly kind: "row"; readonly execution_id: string }
  | { readonly kind: "children"; readonly parent_id: string }
  | { readonly kind: "log"; readonly execution_id: string; readonly above: number }
  | ({ readonly kind: "signals" } & SignalsAsked)
  | { readonly kind: "limits"; readonly limits: readonly ResolvedLimit[] };

/** Breaks a judgement off; never leaves the transaction. */
export class Missing extends Error {
  readonly need: Need;

  constructor(need: Need) {
    super(`not read yet: ${need.kind}`);
    this.need = need;
  }
}
