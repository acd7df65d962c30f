import { pipeline, task, workflow } from "@engine/sdk";

const STOP_WORDS = new Set(["a", "and", "in", "of", "on", "the", "to"]);

const words = task({ name: "words" }, async (text: string) => text.toLowerCase().match(/\p{L}+/gu));

const count = task({ name: "count" }, async (list: readonly string[]) => {
  const counts = new Map<string, number>();
  for (const word of list) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
});

const top = task({ name: "top" }, async (counts: ReadonlyMap<string, number>) =>
  [...counts]
    .sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
    .slice(0, 3)
    .map(([word]) => word),
);

/** Finds the three most used words of a text. */
export const keywords = workflow(
  { name: "keywords", namespace: "examples" },
  async (text: string) => {
    //#region pipeline
    return await pipeline(
      text,
      words,
      // A plain function may stand between tasks; it runs again on replay.
      (list) => (list ?? []).filter((word) => !STOP_WORDS.has(word)),
      count,
      top,
    );
    //#endregion
  },
);
