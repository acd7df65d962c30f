import { UsageError } from "../io/cli-error.ts";
import { isPlainNumber } from "../render/metadata-text.ts";

/**
 * Reads `key=value …`, each split at its first `=`. A value that is a finite decimal becomes a number,
 * unless all are to stay text; `true` is text anyhow.
 */
export function metadataPairs(
  pairs: readonly string[],
  { asText }: { readonly asText: boolean },
): Record<string, string | number> {
  const metadata = new Map<string, string | number>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`expected KEY=VALUE, got ${JSON.stringify(pair)}`);
    const [key, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (metadata.has(key)) throw new UsageError(`${key} is given twice; give each key once`);
    metadata.set(key, !asText && isPlainNumber(value) ? Number(value) : value);
  }
  return Object.fromEntries(metadata);
}
