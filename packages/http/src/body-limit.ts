import type { Route } from "@engine/contract";

const DEFAULT_BYTES = 1024 * 1024;
/** Of the largest value, where the process that serves a table says nothing else. */
export const DEFAULT_VALUE_BYTES: number = 16 * 1024 * 1024;
/** For what stands around a value. */
const ENVELOPE_BYTES = 1024;

/**
 * How many bytes the body of a route may have (NET-1).
 *
 * @param valueBytes Of the largest value.
 */
export function bodyLimitOf({ bodyLimit }: Route, valueBytes: number): number {
  switch (bodyLimit) {
    case undefined:
      return DEFAULT_BYTES;
    case "value":
      return valueBytes;
    case "quoted_value":
      // Within a string the quotes and backslashes of a JSON text take two bytes each.
      return 2 * valueBytes + ENVELOPE_BYTES;
    default:
      return bodyLimit;
  }
}
