/**
 * What the placed workflows want of a worker, said once more and by hand: the judges of placement must
 * not take the engine's word for it.
 */
import type { ProgramInput } from "./program.ts";

/** The workflows of `author/placed.ts`. */
export const PLACED_WORKFLOWS = ["placed_program", "labelled_program", "hidden_program"] as const;

/** Metadata, or a label with those of granted services among them. */
export interface Want {
  readonly of: "label" | "meta";
  readonly key: string;
  readonly is: boolean;
  readonly value: string | number;
}

/** Or the input without which nothing can be wanted; null: nobody is told which. */
export type Wants = readonly Want[] | { readonly missing: string | null };

export interface WorkerSeen {
  readonly worker: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string | number>>;
}

/** Undefined: its workflow goes to any worker. */
export function wantsOf(workflow: string, { where = {} }: ProgramInput): Wants | undefined {
  switch (workflow) {
    case "placed_program": {
      const { tier, not_zone, served } = where;
      if (tier === undefined) return { missing: "where.tier" };
      return [
        { of: "meta", key: "tier", is: true, value: tier },
        ...(not_zone === undefined ? [] : [unlike("meta", "zone", not_zone)]),
        ...(served === "yes" ? [SERVED] : []),
      ];
    }
    case "labelled_program":
      return [{ of: "label", key: "disk", is: true, value: "ssd" }];
    case "hidden_program": {
      const { disk, zone } = where.hidden ?? {};
      if (disk === undefined) return { missing: null };
      return [
        unlike("label", "disk", disk),
        ...(zone === undefined
          ? []
          : [{ of: "meta", key: "zone", is: true, value: zone } as const]),
      ];
    }
    default:
      return undefined;
  }
}

const SERVED: Want = { of: "label", key: "engine.service.inference", is: true, value: "true" };

function unlike(of: Want["of"], key: string, value: string | number): Want {
  return { of, key, is: false, value };
}

/** The first thing that a worker is not, in words. */
export function unmet(wants: readonly Want[], worker: WorkerSeen): string | undefined {
  const failing = wants.find(({ of, key, is, value }) => {
    const has = (of === "label" ? worker.labels : worker.metadata)[key];
    return (has !== undefined && String(has) === String(value)) !== is;
  });
  return failing && `${failing.of} ${failing.key} ${failing.is ? "" : "not "}${failing.value}`;
}
