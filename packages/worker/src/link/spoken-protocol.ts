import { EngineError } from "@engine/contract";

/** The oldest number of the protocol that this worker speaks beside its own. */
const OLDEST = 1;

/**
 * With which number to register after a server has refused one: the highest that both speak (WRK-2).
 * Undefined: there is none, or something else was refused. Always lower than the one that was refused,
 * so that asking ends.
 */
export function spokenByBoth(refusal: unknown, refused: number): number | undefined {
  if (!(refusal instanceof EngineError) || refusal.code !== "incompatible_worker") return undefined;
  const supported: unknown = refusal.details?.["supported"];
  if (!Array.isArray(supported)) return undefined;
  const spoken = supported.filter(
    (n): n is number => Number.isInteger(n) && n >= OLDEST && n < refused,
  );
  return spoken.length > 0 ? Math.max(...spoken) : undefined;
}
