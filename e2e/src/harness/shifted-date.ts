/**
 * Loaded with `--import` into a process and its threads: `Date`, and nothing else, is off by the
 * milliseconds that stand in a file, so that a test sets the clock of a process while it runs.
 */
import { readFileSync } from "node:fs";
import { SHIFT_FILE } from "./shifted-clock.ts";

const LOOK_MS = 20;

const file = process.env[SHIFT_FILE];
const { now } = Date;
let shift = 0;
let looked = Number.NEGATIVE_INFINITY;

function shifted(): number {
  const elapsed = performance.now();
  if (file !== undefined && elapsed - looked > LOOK_MS) {
    looked = elapsed;
    shift = Number(readFileSync(file, "utf8"));
  }
  return now() + shift;
}

Date.now = shifted;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length > 0 ? args : [shifted()], newTarget),
  apply: (target) => new target(shifted()).toString(),
});
