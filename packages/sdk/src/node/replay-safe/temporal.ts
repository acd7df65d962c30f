import { currentBody } from "./body.ts";
import { type AnyFunction, replace } from "./replace.ts";

interface Instant {
  toZonedDateTimeISO(timeZone: unknown): ZonedDateTime;
}

interface ZonedDateTime {
  toPlainDate(): unknown;
  toPlainDateTime(): unknown;
  toPlainTime(): unknown;
}

interface Temporal {
  readonly Instant: { fromEpochMilliseconds(ms: number): Instant };
  readonly Now: object;
}

/** `Temporal.Now` of a body, where this Node has it, is the time of its newest event (EXE-31). */
export function installTemporal(): void {
  const { Temporal } = globalThis as { readonly Temporal?: Temporal };
  if (Temporal === undefined) return;
  const { Instant, Now } = Temporal;

  const replaceNow = (key: string, read: (now: Instant, timeZone: unknown) => unknown) =>
    replace([Now], key, (native: AnyFunction) => (...args: unknown[]) => {
      const body = currentBody();
      if (!body) return native.apply(Now, args);
      const zone = args[0] ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
      return read(Instant.fromEpochMilliseconds(body.world.now()), zone);
    });
  replaceNow("instant", (now) => now);
  replaceNow("zonedDateTimeISO", (now, zone) => now.toZonedDateTimeISO(zone));
  replaceNow("plainDateISO", (now, zone) => now.toZonedDateTimeISO(zone).toPlainDate());
  replaceNow("plainDateTimeISO", (now, zone) => now.toZonedDateTimeISO(zone).toPlainDateTime());
  replaceNow("plainTimeISO", (now, zone) => now.toZonedDateTimeISO(zone).toPlainTime());
}
