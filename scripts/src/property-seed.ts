/**
 * Properties see the same inputs in every run, so that a change fails the tests for what it changes
 * and a failure repeats itself. `FUZZ_RUNS` or `PROPERTY_RUNS` asks for more and for others; what
 * fails then prints its seed, and `PROPERTY_SEED` gives it again. CI runs them a second time with a
 * seed of the day.
 */
import * as fc from "fast-check";

const { PROPERTY_SEED, FUZZ_RUNS, PROPERTY_RUNS } = process.env;
const fresh = FUZZ_RUNS !== undefined || PROPERTY_RUNS !== undefined;
if (PROPERTY_SEED !== undefined || !fresh) fc.configureGlobal({ seed: Number(PROPERTY_SEED ?? 1) });
