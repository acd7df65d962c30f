/** Lists as parameters in the database's own form: nothing is quoted here, nothing is parsed there. */
import { StatementFailure } from "../database-failure.ts";

export type Element = string | number | null;
export type ElementType = "text" | "smallint" | "integer" | "bigint" | "xid";

interface Encoding {
  /** How the database numbers the type. */
  readonly oid: number;
  readonly size: (value: Element) => number;
  /** Returns the number of bytes it took. */
  readonly write: (buffer: Buffer, value: Element, at: number) => number;
}

const ELEMENTS: Readonly<Record<ElementType, Encoding>> = {
  text: {
    oid: 25,
    size: (value) => {
      assertUnicode(value as string);
      return Buffer.byteLength(value as string);
    },
    write: (buffer, value, at) => buffer.write(value as string, at),
  },
  smallint: {
    oid: 21,
    size: () => 2,
    write: (buffer, value, at) => buffer.writeInt16BE(value as number, at) - at,
  },
  integer: {
    oid: 23,
    size: () => 4,
    write: (buffer, value, at) => buffer.writeInt32BE(value as number, at) - at,
  },
  bigint: {
    oid: 20,
    size: () => 8,
    // Whole numbers up to 2^53: two halves are cheaper than a BigInt.
    write: (buffer, value, at) => {
      buffer.writeInt32BE(Math.floor((value as number) / 2 ** 32), at);
      return buffer.writeUInt32BE((value as number) >>> 0, at + 4) - at;
    },
  },
  /** The number of a transaction. */
  xid: {
    oid: 28,
    size: () => 4,
    write: (buffer, value, at) => buffer.writeUInt32BE(value as number, at) - at,
  },
};

const HEADER = 20;
const NULL = -1;

export function isElementType(type: string): type is ElementType {
  return type in ELEMENTS;
}

/**
 * One dimension, counted from 1: five numbers, then each value behind its length.
 *
 * @throws StatementFailure `refused`, as the database refuses a text that it cannot hold.
 */
export function binaryArray(type: ElementType, values: readonly Element[]): Buffer {
  const { oid, size, write } = ELEMENTS[type];
  let length = HEADER + 4 * values.length;
  for (const value of values) if (value !== null) length += size(value);
  const buffer = Buffer.allocUnsafe(length);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  buffer.writeInt32BE(oid, 8);
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16);
  let at = HEADER;
  for (const value of values) {
    const bytes = value === null ? NULL : write(buffer, value, at + 4);
    buffer.writeInt32BE(bytes, at);
    at += 4 + Math.max(bytes, 0);
  }
  return buffer;
}

/** Half of a surrogate pair would silently become another character. */
function assertUnicode(text: string): void {
  if (text.isWellFormed()) return;
  throw new StatementFailure(new Error("half of a surrogate pair in a text"), "refused");
}
