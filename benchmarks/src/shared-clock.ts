/** Milliseconds of a clock that all processes of the machine share, finer than that of the day. */
export function sharedClock(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
