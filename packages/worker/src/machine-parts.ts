// For whoever gives a worker another machine than that of its process.

export type { LoopLag } from "./health.ts";
export type { Machine } from "./machine.ts";
export { InlineRunner, type InlineRunnerOptions } from "./runners/inline-runner.ts";
export { RunnerClock } from "./runners/runner-clock.ts";
