import { EngineError, parseHookSelectors, type SelectorRefusal } from "@engine/contract";

/**
 * Selectors as a hook keeps them: each once, in the order given.
 *
 * @throws EngineError `invalid_selector` for one that can never fire (HOOK-9).
 */
export function legalSelectors(texts: readonly string[]): readonly string[] {
  const { selectors, refusal } = parseHookSelectors(texts);
  if (refusal) throw invalidSelector(refusal);
  return selectors.map(({ text }) => text);
}

export function invalidSelector(refusal: SelectorRefusal): EngineError {
  const text = JSON.stringify(refusal.selector);
  const isOthers = refusal.reason === "not_of_this_hook";
  const message = isOthers ? `the hook has no selector ${text}` : `selector ${text} can never fire`;
  return new EngineError("invalid_selector", message, { details: { ...refusal } });
}
