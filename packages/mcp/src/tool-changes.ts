import { createHash } from "node:crypto";
import type { ServiceEndpoint } from "@engine/contract";
import { serviceTool, toolsOf } from "./tools.ts";

interface Known {
  readonly versions: string;
  readonly tools: string;
}

/**
 * Notices when the tools of a service have become others: one more or less, another name, text or schema
 * (MCP-18). Where every version is the one of before, what differs is what the viewer may see: that is no
 * change. Where only a version is another, all that clients see may still be the same.
 */
export class ToolChanges {
  #known: Known | undefined;

  /** Whether the tools differ from those of the time before; the first time they do not. */
  differ(endpoints: readonly ServiceEndpoint[]): boolean {
    const before = this.#known;
    const now = knownOf(endpoints);
    this.#known = now;
    return before !== undefined && before.versions !== now.versions && before.tools !== now.tools;
  }
}

/** What the caller may run is no part of it: that others may run less is no change of the tools. */
function knownOf(endpoints: readonly ServiceEndpoint[]): Known {
  const hash = createHash("sha256");
  for (const tool of toolsOf(endpoints)) hash.update(JSON.stringify(serviceTool(tool)));
  const versions = endpoints.map(({ ref, version }) => `${ref}@${version}`).sort();
  return { versions: versions.join(), tools: hash.digest("hex") };
}
