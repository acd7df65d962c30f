import type { Flavour } from "../program.ts";

/** What a step gives, by its place and nothing else. */
export function resultOf(path: string, flavour: Flavour): unknown {
  switch (flavour) {
    case "null":
      return null;
    case "undefined":
      return undefined;
    case "text":
      return `result of ${path}`;
    case "date":
      return { path, at: new Date(86_400_000 * path.length) };
    case "map":
      return new Map<string, unknown>([
        ["path", path],
        ["set", new Set([path, 1])],
      ]);
    case "bigint":
      return [path, 2n ** 70n];
    case "nan":
      return [path, Number.NaN, -0, Number.POSITIVE_INFINITY];
    case "reserved":
      return { $rich: path, $stored: [path], toString: 1 };
    case "surrogate":
      return `${path}\ud800`;
    case "large":
      return { path, text: path.repeat(9_000) };
  }
}
