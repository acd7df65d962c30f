// A process that computes all the time, beside what is measured. It ends with the one that started it.
import { endWithParent } from "./serve-app.ts";

/** So that the end of its input is noticed in between. */
const SLICE_MS = 20;

function compute(): void {
  const until = performance.now() + SLICE_MS;
  while (performance.now() < until);
  setImmediate(compute);
}

endWithParent();
process.stdout.write("ready\n");
compute();
