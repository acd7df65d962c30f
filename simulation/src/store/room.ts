import type { Epochs, Leadership, ReplicaRow } from "@engine/store";
import type { Network } from "../network.ts";
import type { Process } from "../process.ts";
import type { World } from "../world.ts";

/** A database ends the lead of a connection that says nothing for so long. */
const IDLE_MS = 6_000;
const NEWS_MS = 10;

type Listener = (message: string | undefined) => void;

/** What a database that several servers share gives them beyond the store: news, and one leader. */
export class Room {
  readonly #world: World;
  readonly #network: Network;
  readonly #losesNews: () => boolean;
  readonly #isSilent: boolean;
  readonly #listeners = new Map<Process, Listener>();
  readonly #seen = new Map<string, number>();
  readonly #leads = new Map<string, { readonly holder: Process; readonly lose: () => void }>();

  constructor(parts: {
    readonly world: World;
    readonly network: Network;
    /** A message is lost, and who should have heard it is told that something is missing. */
    readonly losesNews: () => boolean;
    /** None of services and the catalog ever arrives, and nobody is told. */
    readonly isSilent: boolean;
  }) {
    this.#world = parts.world;
    this.#network = parts.network;
    this.#losesNews = parts.losesNews;
    this.#isSilent = parts.isSilent;
  }

  announce(from: Process, message: string): void {
    if (this.#isSilent && isOfOffers(message)) return;
    for (const [to, listener] of this.#listeners) {
      if (to === from) continue;
      const told = this.#losesNews() ? undefined : message;
      to.after(from.time.ahead + NEWS_MS + this.#network.delay(), () => {
        if (this.#listeners.get(to) === listener) listener(told);
      });
    }
  }

  listen(server: Process, listener: Listener): () => void {
    this.#listeners.set(server, listener);
    return () => void this.#listeners.delete(server);
  }

  /** @param epochs As they are now: they ride along with the sign of life. */
  note(own: string, epochs: Epochs): ReplicaRow[] {
    const { now } = this.#world;
    this.#seen.set(own, now);
    return [...this.#seen].map(([replica, at]) => ({
      replica,
      seen_at: at,
      silent_ms: now - at,
      ...(replica === own && { epochs }),
    }));
  }

  remove(replica: string): void {
    this.#seen.delete(replica);
  }

  lead(server: Process, name: string): Leadership | undefined {
    const held = this.#leads.get(name);
    if (held?.holder.isAlive) return undefined;
    const lost = new AbortController();
    const lead = { holder: server, lose: () => server.after(0, () => lost.abort()) };
    this.#leads.set(name, lead);
    const release = async () => {
      if (this.#leads.get(name) === lead) this.#leads.delete(name);
    };
    return { lost: lost.signal, release };
  }

  /** A server stands still: the database hears nothing of it, and may give its lead away. */
  standsStill(server: Process): void {
    this.#world.after(IDLE_MS, () => {
      if (!server.isStill) return;
      for (const [name, lead] of this.#leads) {
        if (lead.holder !== server) continue;
        this.#leads.delete(name);
        lead.lose();
      }
    });
  }

  died(server: Process): void {
    this.#listeners.delete(server);
    for (const [name, { holder }] of this.#leads) if (holder === server) this.#leads.delete(name);
  }
}

/** Whether it says that services or workflows have changed. */
function isOfOffers(text: string): boolean {
  const { message } = JSON.parse(text) as {
    readonly message: { readonly kind: string; readonly raised?: readonly string[] };
  };
  return message.kind === "catalog" || message.raised?.includes("services") === true;
}
