import type { StandardSchema } from "@engine/sdk";
import { dawdle } from "./surroundings.ts";

/** It takes its time, takes what it is given for its own, and adds under a key what nobody has told it. */
export function completing<Value extends object>(key: string): StandardSchema<Value, Value> {
  return schemaOf((value) => Object.assign(value as Value, { [key]: crypto.randomUUID() }));
}

/** It takes its time, and changes nothing. */
export function passing(): StandardSchema {
  return schemaOf((value) => value);
}

function schemaOf<Value>(check: (value: unknown) => Value): StandardSchema<Value, Value> {
  return {
    "~standard": {
      version: 1,
      vendor: "programs",
      async validate(value) {
        await dawdle();
        return { value: check(value) };
      },
    },
  };
}
