// The engine in memory, for tests of workflows. Adding a line makes something public.
export type { TaskRun } from "./stand-ins.ts";
export {
  type TestEngine,
  type TestEngineOptions,
  type TestRunOptions,
  testEngine,
} from "./test-engine.ts";
