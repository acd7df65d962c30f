import {
  encode,
  type Json,
  type PlacementAnswer,
  type PlacementQuestion,
  type Requirements,
  resolvePlacement,
} from "@engine/contract";
import type { Catalog } from "../catalog/catalog.ts";
import { checkInput } from "../catalog/input/input-check.ts";
import type { Outlook } from "../dispatch/outlook.ts";
import { foundVersion } from "../starts/found-version.ts";
import { placedBy } from "../starts/placed.ts";
import type { NamedWorkflow } from "../starts/start.ts";

interface Parts {
  readonly catalog: Pick<Catalog, "resolve">;
  readonly prospects: (requirements: Requirements | null) => Outlook;
}

/** Says where a start would go, by the rules that a start goes by, without one (RTE-6). */
export class DryRuns {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async place(
    { namespace, workflow }: NamedWorkflow,
    { input, routing_input = {}, version }: PlacementQuestion,
  ): Promise<PlacementAnswer> {
    const found = await this.#parts.catalog.resolve(namespace, workflow, version);
    const { pin, schema, declared } = foundVersion(found);
    if (input !== undefined) await checkInput(schema, encode(input, "input"), "body.input");
    const placed = declared
      ? placedBy(
          pin.requirements,
          resolvePlacement(declared, { input, routing_input }),
          // Nothing of it is kept.
          (plain) => ({ plain }),
        )
      : { requirements: pin.requirements };
    if (placed.failure) {
      const { type, message } = placed.failure;
      // A failure's details are JSON: they are written to the log as they are.
      const details = placed.failure.details as Record<string, Json> | null;
      return { eligible: [], rejected: [], error: { type, message, details } };
    }
    const { eligible, rejected, policy } = this.#parts.prospects(placed.requirements);
    return {
      eligible: eligible.map(({ worker, load, score }) => ({
        worker,
        load,
        score: score?.score ?? null,
        terms: policy.map((term, at) => ({ ...term, value: score?.terms[at] ?? null })),
      })),
      rejected: rejected
        .toSorted((a, b) => (a.worker < b.worker ? -1 : 1))
        .map(({ worker, failing }) => ({ worker, failing: [...failing] })),
      error: null,
    };
  }
}
