import { onTestFinished } from "vitest";
import type { Store } from "../store.ts";

/** Gives an empty store at each call. */
export type Open = () => Promise<Store>;

/** A store for one test, closed when that ends. */
export async function opened(open: Open): Promise<Store> {
  const store = await open();
  onTestFinished(() => store.close());
  return store;
}
