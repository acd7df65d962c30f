import type {
  DeliveryRecord,
  DeliveryStatus,
  DetailedDelivery,
  DetailedHook,
  HookEnvelope,
  HookRecord,
  TestedHook,
} from "@engine/contract";
import type { Paint, Role, Screen } from "./paint.ts";
import { fields, lines } from "./table.ts";

/** A hook in two words, and below it one line for each selector (HOOK-53). */
export function hookView(hook: HookRecord, { paint }: Pick<Screen, "paint">): string {
  const { name, enabled, workflow, principal, max_attempts, selectors } = hook;
  const mark = enabled ? paint("running", "✓") : paint("needs_you", "⏸");
  const runs = `→ ${workflow} as ${principal} max ${max_attempts}`;
  const declared = hook.owner_type === "user" ? [] : [`${hook.owner_type} ${hook.owner_ref}`];
  return lines([
    `${mark} ${paint("strong", name)} ${runs}`,
    ...selectors.map((selector) => `  on ${selector}`),
    ...declared.map((owner) => `  declared by ${owner}`),
  ]);
}

export function hookList(hooks: readonly HookRecord[], screen: Screen): string {
  return hooks.map((hook) => hookView(hook, screen)).join("");
}

/** The same with what became of its deliveries, and what would stop the next one. */
export function detailedHookView(hook: DetailedHook, screen: Screen): string {
  const { pending, dead, last_delivered_at, problems } = hook.status;
  const status = fields(screen.paint, [
    ["pending", `${pending}`],
    ["dead", `${dead}`],
    ["last delivered", last_delivered_at ?? "never"],
    ["problems", problems.length === 0 ? "none" : problems.join(", ")],
  ]);
  return hookView(hook, screen) + status;
}

const MARKS = {
  delivered: ["✓", "running"],
  dead: ["✗", "failed"],
  pending: ["…", "muted"],
} as const satisfies Record<DeliveryStatus, readonly [string, Role]>;

/** A delivery in one line, and below it what became of it. */
export function deliveryView(
  { id, status, event_key, attempts, execution_id, next_attempt_at, ...row }: DeliveryRecord,
  { paint }: Pick<Screen, "paint">,
): string {
  const { error, dead_reason } = row;
  const [glyph, role] = MARKS[status];
  const why = dead_reason === null ? error : `${dead_reason}: ${error}`;
  return lines([
    `${paint(role, glyph)} ${id} ${status} ${event_key} attempts ${attempts}`,
    ...(execution_id === null ? [] : [`  execution ${execution_id}`]),
    ...(next_attempt_at === null ? [] : [`  next attempt ${next_attempt_at}`]),
    ...(why === null ? [] : [`  error ${why}`]),
  ]);
}

export function deliveryList(items: readonly DeliveryRecord[], screen: Screen): string {
  return items.map((item) => deliveryView(item, screen)).join("");
}

/** The same with the event that it is of, and what its target is started with. */
export function detailedDeliveryView(delivery: DetailedDelivery, screen: Screen): string {
  const { envelope, event_type, source_workflow, selector, hop, created_at } = delivery;
  const about = fields(screen.paint, [
    ["event", `${event_type} of ${source_workflow}`],
    ["selector", selector],
    ["hop", `${hop}`],
    ["created", created_at],
    ["settled", delivery.settled_at ?? undefined],
    ["envelope", envelope ? envelopeText(envelope) : "what is stored is none"],
  ]);
  return deliveryView(delivery, screen) + about;
}

/** What a test of a hook has started, and with what. */
export function testedView({ hook, execution_id, envelope }: TestedHook, screen: Screen): string {
  const { paint }: { paint: Paint } = screen;
  return (
    lines([`${paint("running", "✓")} ${paint("strong", hook)} started execution ${execution_id}`]) +
    fields(paint, [["envelope", envelopeText(envelope)]])
  );
}

function envelopeText(envelope: HookEnvelope): string {
  return JSON.stringify(envelope, null, 2);
}
