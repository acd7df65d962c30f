/** Bytes of a JSON text in UTF-8. It has no half of a surrogate pair alone: those are escaped in it. */
export function jsonBytes(json: string): number {
  let bytes = 0;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    // Each half of a pair is two of the four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  }
  return bytes;
}

/** The beginning of a text, at most so many characters, without half of a surrogate pair at its end. */
export function beginning(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}
