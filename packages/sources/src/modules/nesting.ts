/**
 * The native parser recurses, and a file nested some thousand levels deep would overflow its stack
 * and take the whole process with it. This rough scan of tokens finds such files first. It counts
 * too much rather than too little: every token of an unfinished statement may be a level.
 */
const MAX_BRACKETS = 256;
const MAX_TOKENS = 4_000;
const MAX_ANGLES = 500;

const TOKEN =
  /(\s+|\/\/[^\n\r]*|\/\*[\s\S]*?(?:\*\/|$))|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|=>|[\w$\u0080-\uffff]+|[\s\S]/y;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(`|\$\{|$)/y;
const CONTINUES =
  /^(?:await|case|delete|do|else|in|instanceof|new|of|return|throw|typeof|void|yield)$/;
const CHAINS = /^(?:do|else|for|if|switch|try|while|with)$/;
const ENDS_VALUE = /[\w$\u0080-\uffff)\]}"'`]$/;

/** The offset at which a source becomes too deep to parse, or undefined. */
export function tooDeepAt(source: string): number | undefined {
  const frames = [{ open: "", tokens: 0, angles: 0 }];
  let total = 0;
  let previous = "";
  let sawLine = false;
  for (let at = 0; at < source.length; ) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(source);
    let token = match?.[0] ?? "";
    if (match?.[1] !== undefined) {
      sawLine ||= /[\n\r]/.test(token);
      at += token.length;
      continue;
    }
    if (token === "/" && (!ENDS_VALUE.test(previous) || CONTINUES.test(previous))) {
      REGEX.lastIndex = at;
      token = REGEX.exec(source)?.[0] ?? token;
    }
    let frame = frames.at(-1) as (typeof frames)[number];
    if (startsAnew(previous, token, sawLine)) {
      total -= frame.tokens;
      frame.tokens = 0;
      if (previous !== ",") frame.angles = 0;
    }
    const start = at;
    at += token.length;
    const closesTemplate = token === "}" && frame.open === "`";
    if (/^[)\]}]$/.test(token) && frames.length > 1) {
      total -= frame.tokens;
      frames.pop();
      frame = frames.at(-1) as (typeof frames)[number];
    }
    let opens = /^[([{]$/.test(token) ? token : "";
    if (token === "`" || closesTemplate) {
      TEMPLATE.lastIndex = at;
      const part = TEMPLATE.exec(source);
      at += part?.[0].length ?? 0;
      if (part?.[1] === "${") opens = "`";
    }
    frame.tokens++;
    total++;
    if (token === "<") frame.angles++;
    if (token === ">") frame.angles = Math.max(0, frame.angles - 1);
    if (opens !== "") frames.push({ open: opens, tokens: 0, angles: 0 });
    if (frames.length > MAX_BRACKETS || total > MAX_TOKENS || frame.angles > MAX_ANGLES) {
      return start;
    }
    previous = opens === "`" ? "{" : token === "`" || closesTemplate ? "`" : token;
    sawLine = false;
  }
  return undefined;
}

/** Whether a token begins something that does not lie inside what came before. */
function startsAnew(previous: string, token: string, afterLine: boolean): boolean {
  if (token === "else") return false;
  if (previous === "," || previous === ";") return true;
  if (!afterLine || !ENDS_VALUE.test(previous) || CONTINUES.test(previous)) return false;
  if (previous === ")" && CHAINS.test(token)) return false;
  return /^[\w$@"'\u0080-\uffff]/.test(token);
}
