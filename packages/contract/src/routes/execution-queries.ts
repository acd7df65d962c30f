/** What may be asked of executions: the queries and headers that their routes share. */
import * as z from "zod";
import { Name } from "../definitions/catalog.ts";
import { State } from "../executions/execution.ts";
import { ROUTING_INPUT_HEADER } from "../routing/routing-input.ts";
import { paging, QueryFlag, repeated } from "../wire/list.ts";
import { all, type Permission, when } from "../wire/permission.ts";
import { QueryInstant } from "../wire/query-instant.ts";
import { decimalNumber, wholeNumber } from "../wire/query-number.ts";

/** How a run or resume is answered: wait for the end, return at once, or stream (EXE-81). */
export const RunMode = z.enum(["sync", "async", "stream"]);
export type RunMode = z.infer<typeof RunMode>;

export const Waiting = {
  detailed: QueryFlag.optional().describe("adds the log"),
  timeout: decimalNumber({ above: 0 })
    .optional()
    .describe("seconds until `sync` answers as it is then, and `stream` ends"),
};
export const EachEvent = z
  .enum(["all"])
  .optional()
  .describe("`all`: in a stream, each event of the log is a frame too, before that of its state");
const Version = wholeNumber({ min: 1 }).optional();
export const RunVersion = Version.describe("the version to run; the latest unless given");
export const PauseName = z
  .string()
  .optional()
  .describe("name or `task_call_id` of the pause, when several are open");
/** A label for people. */
export const Label = z.string().trim().min(1).max(200);
const CancelOnDisconnect = QueryFlag.optional().describe(
  "`true`: the execution is cancelled when the caller leaves before the answer",
);
export const RunQuery = z.strictObject({
  ...Waiting,
  events: EachEvent,
  cancel_on_disconnect: CancelOnDisconnect,
  version: RunVersion,
  name: Label.optional().describe("a label for people, shown in lists"),
  priority: wholeNumber({ min: -10, max: 10 })
    .optional()
    .describe("from -10 to 10: a lower one waits as long as a higher one can start"),
  start_at: QueryInstant.optional().describe("no worker gets it before this instant"),
  park_ttl: decimalNumber({ min: 0 })
    .optional()
    .describe("seconds it may wait for a worker before it fails; 0 = for ever"),
});
/**
 * Its value is read from the list of headers as they came: here one that was sent twice is joined (RIN-2).
 */
const routingHeader = {
  [ROUTING_INPUT_HEADER]: z
    .string()
    .optional()
    .describe(
      "values to choose a worker by, which nobody is shown: one JSON object of text, numbers, booleans, null and objects of these, in UTF-8; at most 4,096 bytes, 64 keys and 8 levels",
    ),
} as const;
export const RoutingHeaders = z.object(routingHeader);
export const RunHeaders = z.object({
  "idempotency-key": z
    .string()
    .optional()
    .describe("of two starts with the same key one creates, the other is answered for it"),
  "x-engine-preferred-worker": Name.optional().describe(
    "the worker that is asked first, and again where the last one cannot have it",
  ),
  "x-engine-require-worker": Name.optional().describe("the only worker that may run it"),
  ...routingHeader,
});
/** What a start takes that may name the only worker it goes to (AUTH-59). */
export const aimed = (start: Permission): Permission =>
  all(start, when("X-Engine-Require-Worker", "worker:{value}:target"));
export const FollowHeaders = z.object({
  /** What a browser's EventSource sends by itself (EXE-93). */
  "last-event-id": wholeNumber({ min: 0 })
    .optional()
    .describe(
      "`id` of the last frame that was read: `stream` goes on behind it; 0 = from the beginning. With `events=all` the state that this event made is told again, since both frames have this id",
    ),
});
export const ResumeQuery = z.strictObject({
  ...Waiting,
  events: EachEvent,
  cancel_on_disconnect: CancelOnDisconnect,
  pause: PauseName,
});
/** Capitals and small letters alike, as a pattern that the document can show. */
const anyCase = State.options.join("|").replace(/[A-Z]/g, (c) => `[${c}${c.toLowerCase()}]`);
const states = repeated(
  z.union([
    State,
    z
      .string()
      .regex(new RegExp(`^(?:${anyCase})$`))
      .transform((text) => text.toUpperCase() as State),
  ]),
);
export const ExecutionFilter = {
  state: states.describe("only in this state, in any case; may be repeated"),
  version: Version.describe("only of this version"),
  name: z.string().optional().describe("only with a label that begins like this, in any case"),
  parent_id: z.string().min(1).optional().describe("only children of this execution"),
  root: QueryFlag.optional().describe("`true`: only executions that are nobody's child"),
  schedule: z.string().min(1).optional().describe("only those that this schedule started"),
  created_after: QueryInstant.optional().describe("only those created after this instant"),
  created_before: QueryInstant.optional().describe("only those created before this instant"),
  finished_after: QueryInstant.optional().describe("only those that ended after this instant"),
  finished_before: QueryInstant.optional().describe("only those that ended before this instant"),
  order: z
    .enum(["created_desc", "created_asc"])
    .default("created_desc")
    .describe("newest or oldest first"),
  before: z
    .guid("expected the id of an execution")
    .toLowerCase()
    .optional()
    .describe("the page behind this execution, the last one of the page before"),
  ...paging(200, 50),
};
export const EventPageQuery = {
  after: wholeNumber({ min: 0 }).optional().describe("only events behind this `seq`"),
  before: wholeNumber({ min: 1 }).optional().describe("only events before this `seq`"),
};
export const CancelQuery = z.strictObject({
  mode: z.enum(["async", "sync"]).default("async").describe("`sync` waits until it has ended"),
  detailed: Waiting.detailed,
  timeout: Waiting.timeout.describe("seconds until `sync` answers as it is then"),
});
