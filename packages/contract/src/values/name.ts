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
/** Name of a built-in call as the log has it: `kind` of its events. */
export type BuiltInCall = (typeof BUILT_IN_CALLS)[number];

/** The namespace of workflows that name none. */
export const DEFAULT_NAMESPACE = "default";

/**
 * Whether a text can name a namespace, a workflow or a task; {@link NAME_RULE} says in words what
 * can.
 */
export function isName(text: string): boolean {
  return NAME_PATTERN.test(text);
}

/** Whether a task cannot take this name, since a built-in call has it. */
export function isBuiltInCall(text: string): text is BuiltInCall {
  return (BUILT_IN_CALLS as readonly string[]).includes(text);
}

/**
 * Takes apart how people name a workflow: `<namespace>/<name>`, or a name alone for one of namespace
 * `default`. Undefined for anything else; {@link NAME_RULE} says what each part must be.
 */
export function parseWorkflowName(
  text: string,
): { readonly namespace: string; readonly name: string } | undefined {
  const [first = "", second, ...more] = text.split("/");
  const [namespace, name] = second === undefined ? [DEFAULT_NAMESPACE, first] : [first, second];
  return more.length === 0 && isName(namespace) && isName(name) ? { namespace, name } : undefined;
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
