/** What `POST /hooks/{name}/test` starts a target with (HOOK-37). */
import { formatInstant } from "../values/time.ts";
import type { Json } from "../values/value.ts";
import type { HookEnvelope } from "./envelope.ts";
import type { HookSelector, SelectorRefusal } from "./selector.ts";
import { parseHookSelector } from "./selector.ts";

/** The selector that a test of a hook is made from: the one asked for, else the hook's first. */
export function testedSelector(
  selectors: readonly string[],
  asked?: string,
):
  | { readonly selector: HookSelector; readonly refusal?: undefined }
  | { readonly selector?: undefined; readonly refusal: SelectorRefusal } {
  const text = asked ?? selectors[0] ?? "";
  if (selectors.includes(text)) return parseHookSelector(text);
  const hint = `the hook has ${selectors.join(", ")}`;
  return { refusal: { selector: text, index: 0, reason: "not_of_this_hook", hint } };
}

/** The delivery that a test says it is of, by the execution that it starts: no row has this id (HOOK-37). */
export function testDeliveryId(execution_id: string): string {
  return `hook-test-${execution_id.replaceAll("-", "")}`;
}

/**
 * An envelope as an event would have made it that the selector matches. Redaction is its caller's matter.
 *
 * @param of `execution_id` is that of the execution that is started, `now` is milliseconds since 1970;
 *   `value` is that of the event.
 */
export function testEnvelope(of: {
  readonly hook: string;
  readonly selector: HookSelector;
  readonly value?: Json | undefined;
  readonly execution_id: string;
  readonly now: number;
}): HookEnvelope {
  const { hook, selector, value = { synthetic: true, hook } } = of;
  const id = testDeliveryId(of.execution_id);
  const [namespace, workflow, ...rest] = selector.pattern;
  const type = given(rest.at(-1), "completed");
  const common = {
    type,
    execution_id: id,
    workflow_namespace: given(namespace, "test_namespace"),
    workflow_name: given(workflow, "test_workflow"),
    value,
    occurred_at: formatInstant(of.now),
  };
  const head = { hook, selector: selector.text, delivery_id: id, event_key: `${id}:1` };
  if (selector.domain === "execution") {
    const event = { domain: "execution" as const, ...common, state: type };
    return {
      ...head,
      attempt: 1,
      hop: 0,
      event: { ...event, task_name: null, task_call_id: null },
    };
  }
  const task_name = given(rest[0], "test_task");
  const event = { domain: "task" as const, ...common, state: null };
  return {
    ...head,
    attempt: 1,
    hop: 0,
    event: { ...event, task_name, task_call_id: `${task_name}~1` },
  };
}

function given(segment: string | undefined, otherwise: string): string {
  return segment === undefined || segment === "*" ? otherwise : segment;
}
