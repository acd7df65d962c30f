/** A length of time in the two units that matter: `340 ms`, `12 s`, `3 min 5 s`, `2 d 4 h`. */
export function elapsed(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${Math.floor(ms / 100) / 10} s`;
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return pair(s, 60, "min", "s");
  if (s < 86_400) return pair(Math.floor(s / 60), 60, "h", "min");
  return pair(Math.floor(s / 3600), 24, "d", "h");
}

/** In one unit, for a column: `340 ms`, `1.5 s`, `12 s`, `3 min`, `5 h`, `4 d`. */
export function brief(ms: number): string {
  if (ms < 60_000) return elapsed(ms);
  const s = Math.floor(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  return s < 86_400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} d`;
}

/** `in 12 s`, to an ISO instant that is to come. */
export function ahead(instant: string, now: number): string {
  return `in ${elapsed(Date.parse(instant) - now)}`;
}

function pair(count: number, per: number, big: string, small: string): string {
  const rest = count % per;
  return `${Math.floor(count / per)} ${big}${rest ? ` ${rest} ${small}` : ""}`;
}

/** `12 s ago`, from an ISO instant. */
export function ago(instant: string, now: number): string {
  const ms = now - Date.parse(instant);
  if (ms < 1000) return "just now";
  return ms < 10_000 ? `${Math.floor(ms / 1000)} s ago` : `${elapsed(ms)} ago`;
}
