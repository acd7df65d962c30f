import { SERVICE_PREFIX, type WorkerSelector } from "@engine/contract";
import type { Needs } from "./fits.ts";

/**
 * Whether a choice by these needs reads what operators write of workers: metadata and granted services.
 * Then the claim is guarded by their revision (DSP-3).
 */
export function readsAttributes({ requirements, hidden }: Needs): boolean {
  if (!requirements && !hidden) return false;
  return [requirements, hidden].some((placement) => {
    const { affinity = [], routing = [] } = placement ?? {};
    return (
      affinity.some((need) => need.of !== "unknown" && isWritten(need.of, need.key)) ||
      routing.some((term) => {
        const read = term.kind === "prefer" ? term.left : "selector" in term ? term.selector : null;
        return [read, term.when?.left].some((selector) => selector && isWrittenOf(selector));
      })
    );
  });
}

function isWrittenOf(selector: WorkerSelector): boolean {
  return "key" in selector && isWritten(selector.kind, selector.key);
}

function isWritten(of: "label" | "meta" | "metric", key: string): boolean {
  return of === "meta" || (of === "label" && key.startsWith(SERVICE_PREFIX));
}
