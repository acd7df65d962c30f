/** Names of namespaces, workflows, tasks, pauses, signals, agents, workers and limits (EXE-8). */
export const NAME_PATTERN: RegExp = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** What {@link NAME_PATTERN} allows, in words for an error message. */
export const NAME_RULE =
  "1 to 128 letters, digits, '_', '.' or '-', beginning with a letter, a digit or '_'";

/** Words that name the built-in calls; a user task may not take one (EXE-8). */
export const BUILT_IN_CALLS = [
  "parallel",
  "map",
  "pipeline",
  "graph",
  "pause",
  "sleep",
  "now",
  "random",
  "uuid",
  "call",
  "get_config",
  "signal",
] as const;
export type BuiltInCall = (typeof BUILT_IN_CALLS)[number];

export const DEFAULT_NAMESPACE = "default";

export function isName(text: string): boolean {
  return NAME_PATTERN.test(text);
}

export function isBuiltInCall(text: string): text is BuiltInCall {
  return (BUILT_IN_CALLS as readonly string[]).includes(text);
}

/** The known word closest to a mistyped one, or undefined when nothing is near enough to suggest. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
