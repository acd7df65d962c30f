import type { Heartbeat, ProgressItem, WorkerActivity } from "@engine/contract";

/** What one commit came to, as far as other servers may care. */
export interface RowNews {
  readonly id: string;
  readonly generation: number;
  readonly head: number;
  /** It waits for a worker now. */
  readonly queued?: true;
  /** The session that owns it, where that is news: events were pushed to it, or it owns it no more. */
  readonly owner?: string;
  /** Nobody owns it now. */
  readonly unowned?: true;
  readonly wake_at?: number;
  /** `seq` before the first event that its owner does not know, which a server wrote. */
  readonly pushed_above?: number;
}

/** What servers on the same database tell each other. Never the truth: that is in the rows. */
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
  /** Operators have decided what a worker is to do; whoever holds its stream tells it. */
  | {
      readonly kind: "desired";
      readonly worker: string;
      readonly state: WorkerActivity;
      readonly timeout_seconds?: number | undefined;
    }
  /** A heartbeat that came to a server which does not hold the stream. */
  | { readonly kind: "beat"; readonly session: string; readonly heartbeat: Heartbeat }
  /** Schedules were written: whoever fires them has to look. */
  | { readonly kind: "schedules" }
  /** Workflows were registered or deleted. */
  | { readonly kind: "catalog" }
  | { readonly kind: "watch"; readonly id: string; readonly on: boolean }
  /** All that is watched on a server: what it said of that one by one may have been lost. */
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

/** Undefined for what no server of this release has sent: a newer one may say more. */
export function parseEnvelope(text: string): Envelope | undefined {
  try {
    const parsed = JSON.parse(text) as Partial<Envelope> | null;
    const isOne = typeof parsed?.from === "string" && typeof parsed.message?.kind === "string";
    return isOne ? (parsed as Envelope) : undefined;
  } catch {
    return undefined;
  }
}
