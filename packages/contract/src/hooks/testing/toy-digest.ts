/**
 * Stands for SHA-256 in tests, where there is no Node: 64 hexadecimal digits that follow from the text.
 */
export function toyDigest(text: string): string {
  return Array.from({ length: 8 }, (_, i) => {
    let hash = 0x811c9dc5 ^ (i * 0x9e3779b1);
    for (let at = 0; at < text.length; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
    return (hash >>> 0).toString(16).padStart(8, "0");
  }).join("");
}
