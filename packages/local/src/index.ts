// Importing this package makes `workflow.run(…)` work in this process, and its globals replay-safe
// for the modules that load after it. Adding a line makes something public.
import { installReplaySafeGlobals, setLocalHost } from "@engine/sdk/node";
import { processLocal } from "./process-local.ts";

export { type Local, openLocal } from "./local.ts";
export type { LocalLimits, LocalParts, LocalSettings } from "./local-parts.ts";
export { run } from "./run.ts";

installReplaySafeGlobals();
setLocalHost({
  run: async (workflow, input, options) => (await processLocal()).run(workflow, input, options),
});
