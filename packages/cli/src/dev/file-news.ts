import type { Registered } from "@engine/contract";
import type { SourceProblem } from "../render/source-problem.ts";

/** A version that a file gave. */
export interface Given {
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
}

export function qualified({ namespace, name }: Given): string {
  return `${namespace}/${name}`;
}

/** What became of one file since the last look; `kept` are the versions it leaves as they are. */
export type FileNews = { readonly path: string } & (
  | {
      readonly kind: "registered";
      readonly items: Registered["items"];
      readonly warnings: readonly SourceProblem[];
      readonly bundle: string;
      /** Workflows that it no longer has. */
      readonly kept: readonly Given[];
      /** Workflows that another file defines too, with that file. */
      readonly shared: readonly (Given & { readonly other: string })[];
    }
  | {
      readonly kind: "refused";
      readonly problems: readonly SourceProblem[];
      readonly kept: readonly Given[];
    }
  | { readonly kind: "failed"; readonly error: unknown; readonly kept: readonly Given[] }
  | { readonly kind: "gone"; readonly isDeleted: boolean; readonly kept: readonly Given[] }
);

/** A version that has just come to be, with its code. */
export interface NewVersion extends Given {
  readonly bundle: string;
}

/** Everything that was registered. */
export function itemsOf(news: readonly FileNews[]): Registered["items"] {
  return news.flatMap((one) => (one.kind === "registered" ? one.items : []));
}

/** The versions that are new. */
export function newVersions(news: readonly FileNews[]): NewVersion[] {
  return news.flatMap((one) => {
    if (one.kind !== "registered") return [];
    const created = one.items.filter((item) => item.created);
    return created.map((item) => ({ ...item, bundle: one.bundle }));
  });
}
