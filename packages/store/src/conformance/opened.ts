import { onTestFinished } from "vitest";
import type { OutboxOptions } from "../hooks/outbox.ts";
import type { Store } from "../store.ts";

export interface OpenOptions {
  readonly hooks?: OutboxOptions | undefined;
}

/** Gives an empty store at each call. */
export type Open = (options?: OpenOptions) => Promise<Store>;

/** A store for one test, closed when that ends. */
export async function opened(open: Open, options?: OpenOptions): Promise<Store> {
  const store = await open(options);
  onTestFinished(() => store.close());
  return store;
}
