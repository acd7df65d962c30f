import * as z from "zod";
import { Event, NewEvent } from "./event.ts";
import { EVENT_TYPES, EVENT_VALUES, type EventType } from "./event-values.ts";

type Common = Omit<Event, "type" | "value"> & {
  /** ISO 8601: when the commit that holds the event happened. */
  recorded_at: string;
};

/** An event as reads return it: what `value` is follows from `type`. */
export type RecordedEvent = {
  [Type in EventType]: Common & { type: Type; value: z.output<(typeof EVENT_VALUES)[Type]> };
}[EventType];

const members = EVENT_TYPES.map((type) =>
  z.object({
    seq: Event.shape.seq,
    ...NewEvent.shape,
    type: z.literal(type),
    value: EVENT_VALUES[type],
    recorded_at: z.string(),
  }),
);
// A list that was mapped has lost which member is which; the type above says it.
export const RecordedEvent = z.discriminatedUnion(
  "type",
  members as unknown as [(typeof members)[number]],
) as unknown as z.ZodType<RecordedEvent, RecordedEvent>;
