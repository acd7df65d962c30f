import type { Heartbeat, ProgressItem } from "@engine/contract";
import type { EpochName } from "@engine/store";
import type { Decision } from "../workers/control.ts";

/** What a commit did to one execution, as far as it concerns other servers. */
export interface RowNews {
  readonly id: string;
  readonly generation: number;
  readonly head: number;
  /** The execution waits for a worker now. */
  readonly queued?: true;
  /** A session that is concerned: events were pushed to it, or it has lost the execution. */
  readonly owner?: string;
  /** No session owns the execution now. */
  readonly unowned?: true;
  readonly wake_at?: number;
  /** `seq` before the first event that a server wrote and the owner does not know. */
  readonly pushed_above?: number;
  /** For whom its owner runs it; absent: for nobody. */
  readonly run_as?: string;
}

/** What servers on the same database tell each other. The truth is in the rows alone. */
export type BusMessage =
  | { readonly kind: "hello" }
  | { readonly kind: "goodbye" }
  | { readonly kind: "rows"; readonly rows: readonly RowNews[] }
  /** A session was opened, ended, or its stream came to another server. */
  | {
      readonly kind: "session";
      readonly session: string;
      readonly superseded_by?: { readonly host: string; readonly pid: number };
    }
  /** Operators have decided what a worker is to do; the server with its stream tells it. */
  | ({ readonly kind: "desired" } & Decision)
  /** Operators have written metadata or grants of a worker: its servers have to look. */
  | { readonly kind: "worker"; readonly worker: string }
  /** A heartbeat that came to a server which does not hold the stream. */
  | { readonly kind: "beat"; readonly session: string; readonly heartbeat: Heartbeat }
  /** Schedules were written: the server that fires them has to look. */
  | { readonly kind: "schedules" }
  /** Places under limits came back, or a limit was defined anew. */
  | { readonly kind: "limits"; readonly name?: string; readonly buckets?: readonly string[] }
  /** Workflows were registered or deleted. */
  | { readonly kind: "catalog" }
  /** Data keys are to be wrapped anew: the server that leads has to look. */
  | { readonly kind: "rotation" }
  /** A delivery of a hook is to be tried again later: the server that leads has to aim at it. */
  | { readonly kind: "deliveries" }
  /** Something was changed of which others keep copies. */
  | { readonly kind: "epochs"; readonly raised: readonly EpochName[] }
  | { readonly kind: "watch"; readonly id: string; readonly on: boolean }
  /** All that is watched on a server, in case a `watch` was lost. */
  | { readonly kind: "watching"; readonly ids: readonly string[] }
  | { readonly kind: "progress"; readonly id: string; readonly items: readonly ProgressItem[] }
  /** One part of a message that is too long for one text. */
  | {
      readonly kind: "part";
      readonly of: string;
      readonly index: number;
      readonly count: number;
      readonly text: string;
    };

export interface Envelope {
  /** The server that says it. */
  readonly from: string;
  readonly message: BusMessage;
}

/** Undefined for a text that this release does not know: a newer server may have sent it. */
export function parseEnvelope(text: string): Envelope | undefined {
  try {
    const parsed = JSON.parse(text) as Partial<Envelope> | null;
    const isOne = typeof parsed?.from === "string" && typeof parsed.message?.kind === "string";
    return isOne ? (parsed as Envelope) : undefined;
  } catch {
    return undefined;
  }
}
