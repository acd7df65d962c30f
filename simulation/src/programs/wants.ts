/**
 * What the placed workflows want of a worker, said once more and by hand: the judges of placement must
 * not take the engine's word for it.
 */
import { type ProgramInput, ROOT_PATH } from "./program.ts";

/** The workflows of `author/placed.ts` that are started as such. */
export const PLACED_WORKFLOWS = ["placed_program", "labelled_program", "hidden_program"] as const;

/** Its children are placed by what it hands them. */
export const GUIDING_WORKFLOW = "guiding_program";

/** Metadata, a label with those of granted services among them, or the name. */
export interface Want {
  readonly of: "label" | "meta" | "worker";
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

/**
 * Undefined: it goes to any worker.
 *
 * @param isFork The worker that a start requires is for what was started alone: not for its children,
 * which have a path of their own, nor for its forks.
 */
export function wantsOf(
  workflow: string,
  input: ProgramInput,
  { isFork = false }: { readonly isFork?: boolean } = {},
): Wants | undefined {
  const { where: { worker } = {}, path } = input;
  const wants = wantsOfInput(workflow, input);
  if (worker === undefined || isFork || path !== ROOT_PATH) return wants;
  if (wants && "missing" in wants) return wants;
  return [...(wants ?? []), { of: "worker", key: "named", is: true, value: worker }];
}

function wantsOfInput(workflow: string, { where = {} }: ProgramInput): Wants | undefined {
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
    const has = of === "worker" ? worker.worker : attributesOf(worker, of)[key];
    return (has !== undefined && String(has) === String(value)) !== is;
  });
  return failing && `${failing.of} ${failing.key} ${failing.is ? "" : "not "}${failing.value}`;
}

function attributesOf({ labels, metadata }: WorkerSeen, of: "label" | "meta") {
  return of === "label" ? labels : metadata;
}
