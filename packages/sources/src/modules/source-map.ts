/**
 * Before the paths of sources in stacks, as the command line's bundles have it: without an address
 * of its own a source would seem to lie beside the bundle, wherever the worker keeps that.
 */
const ROOT = "workflow:///";

/** A map as the comment at the end of its code, by which stacks name the lines a user wrote. */
export function sourceMapComment(map: string): string {
  const { sources, names, mappings } = JSON.parse(map) as Record<string, unknown>;
  const placed = { version: 3, sourceRoot: ROOT, sources, names, mappings };
  const encoded = Buffer.from(JSON.stringify(placed)).toString("base64");
  return `//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}
