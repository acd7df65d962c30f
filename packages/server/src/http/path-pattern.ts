import type { Route } from "@engine/contract";

/** A path of the table in the router's notation: `{name}` becomes `:name`. */
export function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** The first segment of a path, or undefined where it is a parameter. */
export function fixedSegment(path: string): string | undefined {
  const first = firstSegment(path);
  return first.startsWith("{") ? undefined : first;
}

export function firstSegment(path: string): string {
  return path.split("/", 2)[1] ?? "";
}

/** Answers which methods a path has, for a 405; the router only knows whether it found a route. */
export class PathMethods {
  readonly #patterns: { method: Route["method"]; pattern: RegExp; isFixed: boolean }[] = [];
  readonly #fixedSegments = new Set<string>();

  add({ method, path }: Route): void {
    const segments = path.split("/").map((s) => (s.startsWith("{") ? "[^/]+" : escaped(s)));
    const fixed = fixedSegment(path);
    this.#patterns.push({
      method,
      pattern: new RegExp(`^${segments.join("/")}$`),
      isFixed: fixed !== undefined,
    });
    if (fixed !== undefined) this.#fixedSegments.add(fixed);
  }

  /** Whether a segment begins a fixed path, so that no workflow of that name is served (EXE-89). */
  isReserved(segment: string): boolean {
    return this.#fixedSegments.has(segment);
  }

  /** The methods of a path without its query, sorted; none when no row has that path. */
  of(path: string): readonly string[] {
    const reserved = this.isReserved(firstSegment(path));
    const methods = new Set<string>();
    for (const { method, pattern, isFixed } of this.#patterns) {
      if (reserved && !isFixed) continue;
      if (!pattern.test(path)) continue;
      methods.add(method);
      if (method === "GET") methods.add("HEAD");
    }
    return [...methods].sort();
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
