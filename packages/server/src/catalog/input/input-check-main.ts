/** The program of the process that checks inputs which take long. */
import { serveJobs } from "@engine/sources";
import { type Checked, type CheckJob, refusals } from "./input-refusals.ts";
import { linearTest } from "./pattern-test.ts";
import { SchemaValidators } from "./schema-validator.ts";

const validators = new SchemaValidators(linearTest);

serveJobs<CheckJob, Checked>(({ schema, subject, limitMs }) => {
  const validator = validators.of(schema);
  const { unsure } = subject;
  return validator ? refusals(validator, { ...subject, unsure: () => unsure }, limitMs) : [];
});
