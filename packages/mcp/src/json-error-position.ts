type Expected = "value" | "item" | "key" | "first key" | "colon" | "next";

/** Whitespace, then a bracket, a comma, a colon, a number, a word or the beginning of a string. */
const TOKEN = /[ \t\n\r]*([[\]{},:"]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const SPACE = /[ \t\n\r]*/y;
const CLOSING = new Map([
  ["[", "]"],
  ["{", "}"],
]);

/**
 * Where a text that is no JSON goes wrong: the index of the token that cannot stand there, or the
 * text's length where more is missing. `JSON.parse` says so in some of its messages only.
 */
export function jsonErrorPosition(text: string): number {
  const open: string[] = [];
  let expected: Expected | undefined = "value";
  for (let at = 0; ; ) {
    const start = at + matchLength(SPACE, text, at);
    const token = tokenAt(text, at);
    if (token === undefined) return start;
    const end = token === '"' ? stringEnd(text, start) : start + token.length;
    if (typeof end !== "number") return end.wrongAt;
    expected = after(expected, token, open);
    if (expected === undefined) return start;
    at = end;
  }
}

/** What may follow a token, or undefined where it cannot stand; `open` holds the brackets that are awaited. */
function after(expected: Expected, token: string, open: string[]): Expected | undefined {
  const closing = CLOSING.get(token);
  switch (expected) {
    case "first key":
    case "key":
      if (token === '"') return "colon";
      return expected === "first key" && token === "}" ? closed(token, open) : undefined;
    case "colon":
      return token === ":" ? "value" : undefined;
    case "next":
      if (token === "," && open.length > 0) return open.at(-1) === "]" ? "value" : "key";
      return closed(token, open);
    case "item":
    case "value":
      if (expected === "item" && token === "]") return closed(token, open);
      if (closing) open.push(closing);
      if (closing) return closing === "]" ? "item" : "first key";
      return /[\]},:]/.test(token) ? undefined : "next";
  }
}

function closed(token: string, open: string[]): Expected | undefined {
  if (open.at(-1) !== token) return undefined;
  open.pop();
  return "next";
}

function tokenAt(text: string, at: number): string | undefined {
  TOKEN.lastIndex = at;
  return TOKEN.exec(text)?.[1];
}

function matchLength(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** The index after a string's closing quote. */
function stringEnd(text: string, start: number): number | { readonly wrongAt: number } {
  for (let at = start + 1; at < text.length; ) {
    const char = text.charAt(at);
    if (char === '"') return at + 1;
    if (char < " ") return { wrongAt: at };
    const length = char === "\\" ? matchLength(ESCAPE, text, at) : 1;
    if (length === 0) return { wrongAt: at };
    at += length;
  }
  return { wrongAt: text.length };
}
