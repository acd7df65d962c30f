import { hash } from "node:crypto";

/** As contract wants it for ids that are derived. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}
