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

  /**
   * The methods of a path without its query, sorted; none when no row has that path. A path that
   * only `/{workflow_name}` fits is not known by that: any other word would be, too.
   */
  of(path: string): readonly string[] {
    return this.#methodsOf(path, ({ isFixed }) => isFixed);
  }

  /**
   * The methods that a path could be asked under, whether or not there is a workflow of its name.
   */
  offeredTo(path: string): readonly string[] {
    const reserved = this.isReserved(firstSegment(path));
    return this.#methodsOf(path, ({ isFixed }) => isFixed || !reserved);
  }

  #methodsOf(path: string, counts: (row: { readonly isFixed: boolean }) => boolean): string[] {
    const methods = new Set<string>();
    for (const row of this.#patterns) {
      if (!counts(row) || !row.pattern.test(path)) continue;
      methods.add(row.method);
      if (row.method === "GET") methods.add("HEAD");
    }
    return [...methods].sort();
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
