// Importing this package makes `workflow.run(…)` work in this process, and its globals replay-safe
// for the modules that load after it. Adding a line makes something public.
import { installReplaySafeGlobals, setLocalHost } from "@engine/sdk/node";
import { run } from "./process-local.ts";

export { type Local, openLocal } from "./local.ts";
export type { LocalLimits, LocalParts, LocalSettings } from "./local-parts.ts";

export { run };

installReplaySafeGlobals();
setLocalHost({ run });
