// For programs that give a worker another machine than that of its process: the simulation.

export { RunnerClock } from "../program/runner-clock.ts";
export { InlineRunner, type InlineRunnerOptions } from "../runners/inline-runner.ts";
export type { LoopLag } from "./health.ts";
export type { Machine } from "./machine.ts";
