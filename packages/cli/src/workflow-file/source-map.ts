/**
 * Before the paths of sources in stacks: where the files lay when they were registered is nobody's
 * business, and without an address of their own they would seem to lie beside the bundle.
 */
const ROOT = "workflow:///";

export interface Placement {
  /** Lines that were put before the code it maps. */
  readonly linesBefore: number;
  /** Where a source is said to lie. */
  rename(source: string): string;
}

/** The map of a bundle as the comment at its end, by which stacks name the lines a user wrote. */
export function placedMap(text: string, { linesBefore, rename }: Placement): string {
  const { sources, names, mappings } = JSON.parse(text) as {
    readonly sources: readonly string[];
    readonly names: readonly string[];
    readonly mappings: string;
  };
  const placed = {
    version: 3,
    sourceRoot: ROOT,
    sources: sources.map(rename),
    names,
    // A line without mappings is a lone separator.
    mappings: ";".repeat(linesBefore) + mappings,
  };
  const encoded = Buffer.from(JSON.stringify(placed)).toString("base64");
  return `//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}
