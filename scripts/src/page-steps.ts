/** What a page has its reader do, in order. */
export type PageStep =
  /** A file to write. */
  | { readonly kind: "file"; readonly path: string; readonly text: string }
  /** Commands; those that go on have a terminal of their own, which ends what ran there before. */
  | { readonly kind: "commands"; readonly text: string; readonly terminal?: string }
  /** What the commands before it print, `…` being anything. */
  | { readonly kind: "output"; readonly text: string };

const FENCE = /^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm;

/** The steps of a page: its fences of `sh`, of files (`file="…"`), and of `text`, which is output. */
export function pageSteps(page: string): PageStep[] {
  return Array.from(page.matchAll(FENCE), ([, language = "", info = "", text = ""]) => {
    const file = attribute(info, "file");
    if (file !== undefined) return { kind: "file", path: file, text };
    if (language === "sh") {
      const terminal = attribute(info, "terminal");
      return { kind: "commands", text, ...(terminal !== undefined && { terminal }) };
    }
    if (language === "text") return { kind: "output", text };
    throw new Error(`a fence of ${language} says neither a file nor commands nor output`);
  });
}

function attribute(info: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]+)"`).exec(info)?.[1];
}

/**
 * The first line of what should be printed that was not, after those before it; undefined when all
 * were.
 */
export function missingLine(expected: string, printed: string): string | undefined {
  const lines = printed.split("\n").map((line) => line.trimEnd());
  let from = 0;
  for (const line of expected.split("\n").map((text) => text.trimEnd())) {
    if (line === "" || line === "…") continue;
    const found = lines.findIndex((text, at) => at >= from && patternOf(line).test(text));
    if (found < 0) return line;
    from = found + 1;
  }
  return undefined;
}

function patternOf(line: string): RegExp {
  const parts = line.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}
