import { currentBody } from "./body.ts";
import { replace } from "./replace.ts";

/** `Temporal.Now` of a body, where this Node has it, is the time of its newest event (EXE-31). */
export function installTemporal(): void {
  const { Temporal: api } = globalThis as { readonly Temporal?: typeof Temporal };
  if (api === undefined) return;
  const { Instant, Now } = api;

  const replaceNow = (
    key: string,
    read: (now: Temporal.Instant, timeZone: Temporal.TimeZoneLike) => unknown,
  ) =>
    replace([Now], key, (native) => (...args: unknown[]) => {
      const body = currentBody();
      if (!body) return native.apply(Now, args);
      const zone = args[0] ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
      return read(Instant.fromEpochMilliseconds(body.world.now()), zone as Temporal.TimeZoneLike);
    });
  replaceNow("instant", (now) => now);
  replaceNow("zonedDateTimeISO", (now, zone) => now.toZonedDateTimeISO(zone));
  replaceNow("plainDateISO", (now, zone) => now.toZonedDateTimeISO(zone).toPlainDate());
  replaceNow("plainDateTimeISO", (now, zone) => now.toZonedDateTimeISO(zone).toPlainDateTime());
  replaceNow("plainTimeISO", (now, zone) => now.toZonedDateTimeISO(zone).toPlainTime());
}
