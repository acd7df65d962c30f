/** Loads no parser and no compiler: those are in the process that reads, or under `./reading`. */
export { JobProcess } from "./jobs/job-process.ts";
export { serveJobs } from "./jobs/serve-jobs.ts";
export type { ReadRegistration, RegistrationRead } from "./registration-reading.ts";
export { nextFire, nextFires } from "./schedule-spec/next-fires.ts";
export { normalized, specProblems } from "./schedule-spec/spec-problems.ts";
export { readInProcess } from "./source-process.ts";
