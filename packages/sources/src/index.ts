/** Loads no parser and no compiler: those are in the process that reads, or under `./reading`. */
export { type JobOutcome, JobProcess, type JobProcessOptions } from "./jobs/job-process.ts";
export { serveJobs } from "./jobs/serve-jobs.ts";
export type { ReadRegistration, RegistrationRead } from "./registration-reading.ts";
export { nextFire, nextFires, type Plan } from "./schedule-spec/next-fires.ts";
export { normalized, type SpecProblem, specProblems } from "./schedule-spec/spec-problems.ts";
export { readInProcess, type SourceLimits, sourceReader } from "./source-process.ts";
