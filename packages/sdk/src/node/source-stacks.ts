/** Lines of a stack: packages nest deeper than the ten that V8 keeps, and the author's come last. */
const LINES = 25;

/** Lets stacks in this process name the lines that were written, by the maps that code brings along. */
export function installSourceStacks(): void {
  process.setSourceMapsEnabled(true);
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, LINES);
}
