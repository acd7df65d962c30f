/**
 * Where a copy of an execution stands: three things that change by themselves, each of which is
 * exactly one of these at a time. Whether the body has returned or thrown is a fourth.
 */
import type { Cancellation } from "./endings/cancellation.ts";

/**
 * How far the code has been led along the log. Until that is `begun`, what the server writes counts
 * as if the log had come with it; once it is `done`, all that the code does is new.
 */
export type Replay = "ahead" | "begun" | "done";

/**
 * What becomes of the copy.
 *
 * - `going`: its code goes on.
 * - `doomed`: the execution fails whatever its code still does, and that is being written.
 * - `waiting`: the log says that it waits. Nothing moves in the copy until it is woken.
 * - `overtaken`: the server wrote something before what the code ran ahead with. The code goes no
 *   further, what it did before that is still sent, and another core goes on from the log.
 * - `over`: nothing is written or handed to the code any more.
 */
export type Standing = "going" | "doomed" | "waiting" | "overtaken" | "over";

/** How far a cancel has come: into the log, which keeps calls from beginning, or to the code. */
export type Cancel =
  | { readonly at: "none" }
  | { readonly at: "log" }
  | { readonly at: "code"; readonly cancellation: Cancellation };
