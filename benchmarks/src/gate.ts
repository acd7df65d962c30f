/** A result that is wrong, not slow: it fails the run. Times never do (BEN-1). */
class GateError extends Error {
  override readonly name = "GateError";
}

export function gate(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new GateError(message());
}
