import { isUtf8 } from "node:buffer";
import { EngineError } from "@engine/contract";
import { MAX_DEPTH, tooDeep, unreadable } from "./scan-json.ts";

/** The JSON value of a request body; an empty body is null (EXE-79). */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return null;
  if (!isUtf8(bytes)) throw new EngineError("bad_request", "the body is not UTF-8 text");
  refuseDeep(bytes);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw unreadable(bytes);
  }
}

const [QUOTE, BACKSLASH, OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = Buffer.from('"\\[{]}');

/**
 * Counts brackets in the bytes, before anything recursive sees the value: a few kilobytes of "["
 * are enough to overflow the stack of a recursive reader (NET-1).
 *
 * @throws EngineError `bad_request`.
 */
export function refuseDeep(bytes: Buffer): void {
  if (bytes.length <= MAX_DEPTH) return;
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) i = endOfString(bytes, i);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++depth > MAX_DEPTH) throw tooDeep(i);
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
  }
}

function endOfString(bytes: Buffer, start: number): number {
  let i = start + 1;
  while (i < bytes.length && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  return i;
}
