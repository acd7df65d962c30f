import type { NewExecution } from "@engine/contract";
import type { ChangeOptions, Decide, GuardedClaimant } from "../../ports/executions.ts";

/** What a store and the model are asked alike. */
export type Command =
  | {
      readonly kind: "create";
      readonly fresh: NewExecution;
      readonly claimant?: GuardedClaimant;
      /** The delivery among those there are. */
      readonly settles?: Settling;
    }
  | {
      readonly kind: "change";
      readonly execution_id: string;
      readonly decide: Decide;
      readonly options?: ChangeOptions;
    };

/** A delivery that a creation is to settle, and what its guard is wrong about. */
export interface Settling {
  readonly place: number;
  readonly wrong: "attempts" | "revision" | "nothing";
}
