import { serveJobs } from "../serve-jobs.ts";

serveJobs((job: Readonly<Record<string, unknown>>): string => {
  if ("fail" in job) throw new Error(String(job["fail"]));
  if ("exit" in job) process.exit(3);
  const kept: unknown[] = [];
  while ("fill" in job) kept.push(Array.from({ length: 1_000_000 }, Math.random));
  while ("spin" in job);
  return String(job["say"]);
});
