import { describe } from "vitest";
import type { Open } from "./conformance/opened.ts";
import { PORTS } from "./ports.ts";

/** A port has its suite in the file of its name: one that has none fails every test of a store. */
const SUITES: readonly { conformance(open: Open): void }[] = await Promise.all(
  Object.keys(PORTS).map((port) => import(`./conformance/${fileOf(port)}.ts`)),
);

/** What every store must do, as tests of vitest. `open` gives an empty store at each call. */
export function storeConformance(name: string, open: Open): void {
  describe(name, () => {
    for (const { conformance } of SUITES) conformance(open);
  });
}

function fileOf(port: string): string {
  return port.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
