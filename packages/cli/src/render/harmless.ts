import { randomInt } from "node:crypto";
import { inspect } from "node:util";

/**
 * What no text may do to a terminal: move its cursor, change its title or colours, turn the direction
 * of reading around, begin a line of its own without being one.
 */
const HARMFUL = String.raw`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\p{Bidi_Control}]|\r(?!\n)`;

const ESCAPE = "\u001b";

const part = () => randomInt(1000, 10_000);

/** In every sequence of our own. Data cannot know it, so it cannot bring one along. */
const KEY = `;${part()};${part()};${part()}`;

const OWN = `${ESCAPE}\\[\\d+${KEY}[A-Za-z]`;
const STYLE = new RegExp(`${ESCAPE}\\[(\\d+)m`, "g");
const OWN_OR_HARMFUL = new RegExp(`(${OWN})|${HARMFUL}`, "gu");

/** A control sequence that reaches the terminal, such as `2`, `K` for clearing the line. */
export function ownSequence(parameter: number, final: string): string {
  return `${ESCAPE}[${parameter}${KEY}${final}`;
}

/** A text in one of the styles of `util.styleText`. */
export function ownStyle(style: "green" | "yellow" | "red" | "dim" | "bold", text: string): string {
  const [open = 0, close = 0] = inspect.colors[style] ?? [];
  return ownSequence(open, "m") + text + ownSequence(close, "m");
}

/** A text whose styles are ours, from a printer that was given nothing harmful. */
export function withOwnStyles(text: string): string {
  return text.replaceAll(STYLE, (_, style: string) => ownSequence(Number(style), "m"));
}

/**
 * A text with everything harmful made visible as `\u001b`. JSON stays the same JSON: harmful
 * characters can only stand in its strings, and `\\u001b` is how a string writes them.
 */
export function harmless(text: string): string {
  return text.replaceAll(OWN_OR_HARMFUL, (found, own: string | undefined) =>
    own === undefined ? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}` : found,
  );
}

/** The same, on one line. */
export function oneLine(text: string): string {
  return harmless(text.replaceAll("\r\n", "\\r\\n").replaceAll("\n", "\\n"));
}

/** What is written in the end: nothing of it does anything but what we mean it to do. */
export function forTerminal(text: string): string {
  return harmless(text).replaceAll(KEY, "");
}
