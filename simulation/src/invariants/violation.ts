import type { Evidence } from "../evidence.ts";
import type { Excuse } from "./excuses.ts";

/** Something that must always hold and did not. */
export interface Violation {
  /** Of design/reliability.md, or a requirement; `output` is what the program itself says of its end. */
  readonly invariant: `I${number}` | "SVC-5" | "output";
  readonly execution_id: string | null;
  /** What was expected and what was seen, with ids and numbers of events. */
  readonly message: string;
}

/** A judge. Without somebody who counts them its excuses are taken all the same. */
export type Invariant = (evidence: Evidence, excuse?: Excuse) => readonly Violation[];
