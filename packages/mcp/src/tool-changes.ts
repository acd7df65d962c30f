import { createHash } from "node:crypto";
import type { ServiceEndpoint } from "@engine/contract";
import { serviceTool, toolsOf } from "./tools.ts";

/** Notices when the tools of a service have become others: one more or less, another name, text or schema (MCP-18). */
export class ToolChanges {
  #known: string | undefined;

  /** Whether the tools differ from those of the time before; the first time they do not. */
  differ(endpoints: readonly ServiceEndpoint[]): boolean {
    const before = this.#known;
    this.#known = fingerprint(endpoints);
    return before !== undefined && before !== this.#known;
  }
}

/** What the caller may run is no part of it: that others may run less is no change of the tools. */
function fingerprint(endpoints: readonly ServiceEndpoint[]): string {
  const hash = createHash("sha256");
  for (const tool of toolsOf(endpoints)) hash.update(JSON.stringify(serviceTool(tool)));
  return hash.digest("hex");
}
