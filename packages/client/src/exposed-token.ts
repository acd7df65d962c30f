import { isLoopbackHost } from "@engine/contract";

/** What is to be told where a token can be read on its way: no TLS, and another machine (NET-6). */
export function exposure(baseUrl: string): string | undefined {
  const { protocol, hostname, host } = new URL(baseUrl);
  if (protocol !== "http:" || isLoopbackHost(hostname)) return undefined;
  return `credentials go to ${host} over plain http, where others can read them: use https`;
}

/** For whoever has no log of its own. */
export function warnOnConsole(message: string): void {
  // biome-ignore lint/suspicious/noConsole: a library has no other place to say it
  console.warn(message);
}
