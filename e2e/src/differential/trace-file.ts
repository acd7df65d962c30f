import { readFile } from "node:fs/promises";
import type { Entry, Exit } from "./evidence.ts";

type Line =
  | ({ readonly kind: "entry"; readonly id: string } & Omit<Entry, "exit">)
  | ({ readonly kind: "exit"; readonly id: string } & Exit);

/** Functions that were entered, as they wrote it down themselves. */
export async function readTrace(file: string): Promise<readonly Entry[]> {
  return entriesOf(await readFile(file, "utf8").catch(() => ""));
}

export function entriesOf(text: string): readonly Entry[] {
  const lines = text.split("\n").flatMap(lineOf);
  const exits = new Map(lines.flatMap((line) => (line.kind === "exit" ? [[line.id, line]] : [])));
  return lines.flatMap((line) => {
    if (line.kind !== "entry") return [];
    const { kind: _, id, ...entry } = line;
    const exit = exits.get(id);
    return { ...entry, exit: exit ? { at: exit.at, how: exit.how, digest: exit.digest } : null };
  });
}

/** A process that was killed may leave half of a line, and what the next one writes is behind it. */
function lineOf(text: string): readonly Line[] {
  if (text === "") return [];
  try {
    return [JSON.parse(text) as Line];
  } catch {
    const again = text.lastIndexOf('{"id"');
    return again > 0 ? lineOf(text.slice(again)) : [];
  }
}
