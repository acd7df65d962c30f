/**
 * Where a text stops being JSON. `JSON.parse` says so only for some mistakes and in words that
 * change with the runtime, so a refused text is read once more here. It is at most 128 levels deep.
 */
export interface JsonError {
  /** What JSON allows there, in words that follow "expected". */
  readonly expected: string;
  /** From 0, in UTF-16 units. */
  readonly position: number;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings may not hold them
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

class Stopped extends Error {
  readonly expected: string;
  readonly position: number;

  constructor(expected: string, position: number) {
    super(expected);
    this.expected = expected;
    this.position = position;
  }
}

/** @param text A text that `JSON.parse` refuses. */
export function findJsonError(text: string): JsonError {
  const { expected, position } = firstStop(text);
  const before = text.slice(0, position).split("\n");
  return { expected, position, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function firstStop(text: string): { expected: string; position: number } {
  try {
    const end = skip(SPACE, text, value(text, skip(SPACE, text, 0)));
    return { expected: "the end of the body", position: end };
  } catch (stop) {
    if (stop instanceof Stopped) return stop;
    throw stop;
  }
}

/** Reads one value from `at` and answers where it ends. */
function value(text: string, at: number): number {
  const first = text[at];
  if (first === "{") return members(text, at + 1, "}", member);
  if (first === "[") return members(text, at + 1, "]", value);
  if (first === '"') return string(text, at, "a complete string");
  const end = skip(SCALAR, text, at);
  if (end === at) throw new Stopped("a value", at);
  return end;
}

function members(
  text: string,
  start: number,
  close: string,
  one: (text: string, at: number) => number,
): number {
  let at = skip(SPACE, text, start);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = skip(SPACE, text, one(text, at));
    if (text[at] === close) return at + 1;
    if (text[at] !== ",") throw new Stopped(`"," or "${close}"`, at);
    at = skip(SPACE, text, at + 1);
  }
}

function member(text: string, start: number): number {
  const at = skip(SPACE, text, string(text, start, "a field name in double quotes"));
  if (text[at] !== ":") throw new Stopped('":"', at);
  return value(text, skip(SPACE, text, at + 1));
}

function string(text: string, at: number, expected: string): number {
  const end = skip(STRING, text, at);
  if (end === at) throw new Stopped(expected, at);
  return end;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
