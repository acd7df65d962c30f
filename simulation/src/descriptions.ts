import {
  type ChangeAttributes,
  withGrants,
  withMetadata,
  withoutGrant,
  withoutMetadata,
} from "@engine/contract";
import type { Random } from "./random.ts";

/** Something that operators say of a worker at a moment. */
export interface Description {
  readonly at: number;
  /** Which of the workers. */
  readonly target: number;
  readonly deed: "put" | "replace" | "remove" | "clear" | "grant" | "revoke";
  readonly key: string;
  readonly value: string | number;
}

/** So few that they meet each other, and what programs may ask for. */
const DESCRIBED_KEYS: readonly string[] = ["tier", "zone"];
export const DESCRIBED_VALUES: readonly (string | number)[] = ["gold", "silver", 1, 2];
export const DESCRIBED_SERVICES: readonly string[] = ["inference", "search"];

const DEEDS = [
  "put",
  "put",
  "put",
  "replace",
  "remove",
  "clear",
  "grant",
  "grant",
  "revoke",
] as const;

/** In half of the runs nobody says anything. */
export function descriptionsOf(random: Random, stretch: number): Description[] {
  if (random.chance(0.5)) return [];
  const count = 1 + random.below(10);
  const planned = Array.from({ length: count }, (): Description => {
    const deed = random.pick(DEEDS);
    const isService = deed === "grant" || deed === "revoke";
    return {
      at: Math.round(random.next() * stretch),
      target: random.below(12),
      deed,
      key: random.pick(isService ? DESCRIBED_SERVICES : DESCRIBED_KEYS),
      value: random.pick(DESCRIBED_VALUES),
    };
  });
  return planned.sort((a, b) => a.at - b.at);
}

/** What it makes of what was said before. */
export function changeOf({ deed, key, value }: Description): ChangeAttributes {
  switch (deed) {
    case "put":
    case "replace":
      return withMetadata({ metadata: { [key]: value }, replace: deed === "replace" });
    case "remove":
      return withoutMetadata(key);
    case "clear":
      return withoutMetadata();
    case "grant":
      return withGrants([key]);
    case "revoke":
      return withoutGrant(key);
  }
}
