import {
  encode,
  envelopeValue,
  HookEnvelope,
  type HookTest,
  type Json,
  lineageOf,
  type TestedHook,
  testEnvelope,
  testedSelector,
} from "@engine/contract";
import type { HookRow } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { MaskSets } from "../secrets/mask-set.ts";
import { foundVersion } from "../starts/found-version.ts";
import type { Starts } from "../starts/starts.ts";
import { invalidSelector } from "./legal-selectors.ts";
import type { RunnableTarget } from "./target-judge.ts";

type Selector = NonNullable<ReturnType<typeof testedSelector>["selector"]>;

interface Parts {
  readonly ports: Pick<EnginePorts, "clock" | "ids" | "config">;
  readonly starts: Pick<Starts, "start" | "check">;
  readonly masks: Pick<MaskSets, "current">;
}

/** A test of a hook that may be made. */
export interface TestFire {
  readonly row: HookRow;
  readonly target: RunnableTarget;
  readonly selector: Selector;
  /** Of the event. */
  readonly value: Json | undefined;
  /** Called once nothing is left that could refuse the start, before it. */
  readonly note: () => Promise<void>;
}

/** Where a refusal of the target's input schema finds what it refuses. */
const ROOT = "envelope";

/** Starts a hook's target once, as an event would have it started; no delivery is written (HOOK-37). */
export class TestFires {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * The selector that the envelope is made from.
   *
   * @throws EngineError `invalid_selector` for one that is not the hook's.
   */
  selectorOf({ selectors }: HookRow, { selector: asked }: HookTest): Selector {
    const { selector, refusal } = testedSelector(selectors, asked);
    if (refusal) throw invalidSelector(refusal);
    return selector;
  }

  /** @throws EngineError `invalid_input` where the target's schema refuses the envelope. */
  async fire({ row, target, selector, value, note }: TestFire): Promise<TestedHook> {
    const { ports, starts } = this.#parts;
    const execution_id = ports.ids();
    const envelope = await this.#envelope({ hook: row.name, selector, value, execution_id });
    const { delivery_id } = envelope;
    const of = foundVersion(target.version);
    const input = encode(envelope, ROOT);
    await starts.check({ of, input, root: ROOT });
    await note();
    await starts.start({
      ...{ of, input, root: ROOT, execution_id, by: target.run_as },
      trigger: { kind: "hook", id: row.name },
      hook: lineageOf({ by: "test", hook: row.name, delivery_id }),
    });
    return { hook: row.name, execution_id, envelope };
  }

  async #envelope({
    hook,
    selector,
    value,
    execution_id,
  }: Pick<TestFire, "selector" | "value"> & {
    readonly hook: string;
    readonly execution_id: string;
  }): Promise<HookEnvelope> {
    const { clock, config } = this.#parts.ports;
    const masker = await this.#parts.masks.current();
    const redact = (json: string) => masker.json(json);
    const { max_value_bytes } = config.hooks;
    const shown = (given: Json): Json =>
      JSON.parse(envelopeValue(encode(given, "value"), { redact, max_value_bytes }));
    const envelope = testEnvelope({
      ...{ hook, selector, execution_id, now: clock() },
      ...(value !== undefined && { value: shown(value) }),
    });
    return HookEnvelope.parse(JSON.parse(redact(JSON.stringify(envelope))));
  }
}
