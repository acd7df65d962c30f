import type { Evidence } from "../evidence.ts";

/** Something that must always hold and did not. */
export interface Violation {
  /** Of design/reliability.md; `output` is what the program itself says of its end. */
  readonly invariant: `I${number}` | "output";
  readonly execution_id: string | null;
  /** What was expected and what was seen, with ids and numbers of events. */
  readonly message: string;
}

export type Invariant = (evidence: Evidence) => readonly Violation[];
