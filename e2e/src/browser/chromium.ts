import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** The browser of this machine; `CHROMIUM` names another. */
export const CHROMIUM: string | undefined = process.env["CHROMIUM"] ?? found();

/** Said where browser tests are left out: what they prove is not known then. */
export const WITHOUT_CHROMIUM =
  "NO CHROMIUM ON THIS MACHINE: the browser tests did not run (Debian: apt-get install chromium; elsewhere set CHROMIUM to its path)";

/** @param rules Where names lead, as `MAP evil.test 127.0.0.1`. */
export function launch(rules: string): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
    args: [
      `--host-resolver-rules=${rules}`,
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

function found(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
