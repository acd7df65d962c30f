/** The program of the process that reads sources. */
import type { Registration } from "@engine/contract";
import { serveJobs } from "./jobs/serve-jobs.ts";
import { type RegistrationRead, readRegistration } from "./registration-reading.ts";

serveJobs<Registration, RegistrationRead>(async (registration) => {
  const read = await readRegistration(registration);
  if ("source" in registration) return read;
  // The process that asked has the files and the bundle already.
  return { ...read, files: [], module: { ...read.module, bundle: "" } };
});
