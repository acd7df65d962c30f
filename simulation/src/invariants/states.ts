import type { Span } from "../evidence.ts";

/** Something as a write has left it. */
interface Written {
  readonly span: Span;
}

/** What was there before any write. */
export const FIRST_SPAN: Span = { began: 0, settled: 0 };

/**
 * What a transaction may have found of something: more than one state only where somebody wrote in the same
 * moment.
 *
 * @param states In any order, with the one before any write.
 */
export function statesFor<State extends Written>(
  { span }: Written,
  states: readonly State[],
): readonly State[] {
  return states.filter((state) => {
    const isOver = states.some(
      (other) => other.span.began > state.span.settled && other.span.settled < span.began,
    );
    return state.span.began <= span.settled && !isOver;
  });
}
