import type { ExecutionRow } from "@engine/contract";
import type { LoggedEvent } from "@engine/store";
import { toRecord, toRecordedEvent } from "./record.ts";

/** What the frames of a stream say. */
export interface FrameData {
  /** Of a state, given the row as it was then, with its values. */
  readonly record: (row: ExecutionRow) => object;
  /** Of an event of the log. */
  readonly event: (entry: LoggedEvent) => object;
}

/** For those who may read an execution. */
export const RECORDS: FrameData = { record: (row) => toRecord(row), event: toRecordedEvent };
