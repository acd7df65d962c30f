import { EngineError, type Route } from "@engine/contract";
import type { FetchRequest } from "./transport.ts";

/** The loose shape of `Input<Route>`. */
export interface RequestInput {
  readonly params?: Readonly<Record<string, number | string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export interface Target {
  /** Without a slash at its end. */
  readonly base: string;
  readonly token: string | undefined;
}

/** The base of every URL; a path prefix, as behind a proxy, is kept. */
export function baseOf(url: string): string {
  if (!URL.canParse(url)) {
    const message = `${JSON.stringify(url)} is not a URL; expected one such as http://127.0.0.1:8000`;
    throw new EngineError("bad_request", message);
  }
  return url.replace(/\/+$/, "");
}

export function urlOf(
  base: string,
  route: Route,
  { params = {}, query = {} }: RequestInput,
): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, params[name]));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) search.append(key, String(item));
    }
  }
  return search.size ? `${base}${path}?${search}` : `${base}${path}`;
}

/** An empty or dotted segment would be folded away and reach another route than the one called. */
function segment(name: string, value: number | string | undefined): string {
  if (value === undefined || value === "" || value === "." || value === "..") {
    throw new EngineError("bad_request", `${name} cannot be ${JSON.stringify(value ?? null)}`);
  }
  return encodeURIComponent(String(value));
}

export function requestOf(target: Target, route: Route, input: RequestInput): FetchRequest {
  const headers: Record<string, string> = {};
  if (target.token !== undefined) headers["authorization"] = `Bearer ${target.token}`;
  for (const [name, value] of Object.entries(input.headers ?? {})) {
    if (value !== undefined) headers[name] = String(value);
  }
  if (!route.body || input.body === undefined) return { method: route.method, headers };
  headers["content-type"] = "application/json";
  return { method: route.method, headers, body: JSON.stringify(input.body) };
}
