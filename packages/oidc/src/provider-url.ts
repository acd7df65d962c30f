import { isLoopbackHost } from "@engine/contract";

/** What is wrong with the address of a provider or of its keys; undefined when it may be used. */
export function providerUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return "expected an absolute URL";
  if (url.username !== "" || url.password !== "") return "expected a URL without user and password";
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname))) {
    return undefined;
  }
  return `expected an https URL, or http on a loopback host; got ${JSON.stringify(plainUrl(url.href))}`;
}

/** Whether two issuers are the same; one slash at the end says nothing (AUTH-14). */
export function sameIssuer(one: string, other: string): boolean {
  return withoutSlash(one) === withoutSlash(other);
}

/** A document of a provider below its issuer, such as `openid-configuration`. */
export function wellKnown(issuer: string, name: string): string {
  return `${withoutSlash(issuer)}/.well-known/${name}`;
}

/** A URL as messages show it: a query may hold what nobody else should read. */
export function plainUrl(text: string): string {
  const url = URL.parse(text);
  return url === null || url.host === "" ? text : `${url.protocol}//${url.host}${url.pathname}`;
}

function withoutSlash(issuer: string): string {
  return issuer.endsWith("/") ? issuer.slice(0, -1) : issuer;
}
