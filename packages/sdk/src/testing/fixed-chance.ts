import type { Host } from "../replay/port.ts";

/** Random numbers that are the same in every run of a test (mulberry32). */
export function fixedChance(): Pick<Host, "random" | "uuid"> {
  let state = 0x9e3779b9;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const hex = (digit: string) =>
    (digit === "y" ? 8 + Math.floor(random() * 4) : Math.floor(random() * 16)).toString(16);
  return { random, uuid: () => "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, hex) };
}
