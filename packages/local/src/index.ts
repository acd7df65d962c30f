// Importing this package makes `workflow.run(…)` work in this process. Adding a line makes something
// public.
import { setLocalHost } from "@engine/sdk/node";
import { processLocal } from "./process-local.ts";

export { type Local, openLocal } from "./local.ts";
export type { LocalLimits, LocalParts, LocalSettings } from "./local-parts.ts";
export { run } from "./run.ts";

setLocalHost({
  run: async (workflow, input, options) => (await processLocal()).run(workflow, input, options),
});
