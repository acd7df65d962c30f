import { NO_SPANS, type Spans } from "./spans.ts";

/** Every token has this, so that most texts need no second look; a search is quick by a rare first letter. */
const IN_ALL = "gine_";

/**
 * A text in the shape of a token of the engine (AUTH-11), within another one. What is cut off is masked
 * as well, as far as it can be told from other words.
 */
const TOKEN =
  /engine_(?:[sw]k_[a-z0-9]{12}_[\w-]+|[jb]t_[\w-]+|et_[\w-]+(?:\.[\w-]+){0,2}|in_[\w-]{32,})/g;

/** Where the text has tokens, in order and apart from each other. */
export function findTokens(text: string): readonly number[] {
  if (!text.includes(IN_ALL)) return NO_SPANS;
  const spans: Spans = [];
  for (const { index, 0: token } of text.matchAll(TOKEN)) spans.push(index, index + token.length);
  return spans;
}

/** Of a token with its id and 32 bytes; one of an execution ends with a signature of 32 bytes. */
const WHOLE = /^engine_(?:[sw]k_\w{12}_|[jb]t_\w{12}_|et_[\w-]+\.[\w-]+\.|in_)[\w-]{43,}$/;
/** What ends within the part of a token that all tokens have, or a kind of them. */
const BEGUN =
  /(?:engi|engin|engine|engine_(?:[swjbei]|[sw]k(?:_[a-z0-9]{0,12}_?)?|[jb]t_?|et_?|in(?:_[\w-]{0,31})?)?)$/;
const LONGEST_BEGUN = 64;
/** A longer one is refused (AUTH-8). */
const LONGEST_TOKEN = 16 * 1024;

/** Where the end of the text begins that a token may begin with; its length for nowhere. */
export function openToken(text: string): number {
  const [start = 0, end] = findTokens(text).slice(-2);
  if (end === text.length) return isWhole(text.slice(start)) ? end : start;
  const begun = BEGUN.exec(text.slice(-LONGEST_BEGUN));
  return begun ? Math.max(0, text.length - LONGEST_BEGUN) + begun.index : text.length;
}

function isWhole(token: string): boolean {
  return token.length >= LONGEST_TOKEN || WHOLE.test(token);
}
