// The engine in memory, for tests of workflows. Adding a line makes something public.
import { installReplaySafeGlobals } from "../node/replay-safe/install.ts";

export type { TaskRun } from "./stand-ins.ts";
export {
  type TestEngine,
  type TestEngineOptions,
  type TestRunOptions,
  testEngine,
} from "./test-engine.ts";

// A test may load its workflows after this, with what their modules take out of the globals.
installReplaySafeGlobals();
