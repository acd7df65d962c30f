import { spawn } from "node:child_process";

/** The program that shows an address to the user, and its words before that. */
export function browserCommand(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  // `start` would be a shell, to which an address may be more than an address.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}

/** Opens an address in the user's browser where there is one; where not, nothing happens. */
export function openBrowser(url: string): void {
  const [program, ...words] = browserCommand(process.platform);
  const browser = spawn(program, [...words, url], { stdio: "ignore", detached: true });
  // The address is on the screen anyway.
  browser.on("error", () => {});
  browser.unref();
}
