import type { Json } from "@engine/contract";

/**
 * What a value of type `T` is once it has been sent over HTTP, where there is only JSON (EXE-48):
 * a Date, URL or bigint is text, bytes are base64 text, a Set is a list, a Map with text as keys is
 * an object and any other a list of pairs, an Error is its type and message. A member that may be
 * undefined may be missing, `undefined` anywhere else is null, and `unknown` is any JSON.
 *
 * Two things a type cannot show: NaN, ±Infinity and an invalid Date arrive as null.
 */
export type Plain<T> = 0 extends 1 & T ? T : Json extends T ? Json : PlainOf<T>;

/** One member of a union at a time. */
type PlainOf<T> = T extends string | number | boolean | null
  ? T
  : // biome-ignore lint/suspicious/noConfusingVoidType: what a body without a return gives
    T extends undefined | void
    ? null
    : T extends bigint | Date | URL | Uint8Array
      ? string
      : T extends ReadonlyMap<infer K, infer V>
        ? PlainMap<K, V>
        : T extends ReadonlySet<infer V>
          ? Plain<V>[]
          : IsError<T> extends true
            ? { type: string; message: string }
            : T extends { toJSON(key: string): infer J }
              ? Plain<J>
              : T extends readonly unknown[]
                ? { -readonly [I in keyof T]: Plain<T[I]> }
                : PlainRecord<T>;

/** An empty Map becomes an object, even if its keys would be no text. */
type PlainMap<K, V> = [K] extends [string]
  ? Record<K, Plain<V>>
  : [Plain<K>, Plain<V>][] | Record<string, never>;

/** A record of a `name` and a `message` is no Error; only Errors have a stack. */
type IsError<T> = T extends Error ? ("stack" extends keyof T ? true : false) : false;

type PlainRecord<T> = Merged<
  {
    -readonly [K in keyof T as K extends Omittable<T> | symbol ? never : K]: Member<T[K]>;
  } & {
    -readonly [K in keyof T as K extends Omittable<T> ? K : never]?: Member<T[K]>;
  }
>;

/** Keys that may be missing; those of an index signature always may, and need no question mark. */
type Omittable<T> = {
  [K in keyof T]-?: K extends symbol
    ? never
    : Record<never, never> extends Record<K, 1>
      ? never
      : undefined extends T[K]
        ? K
        : never;
}[keyof T];

/** `undefined` is not sent at all; what is unknown may be anything else. */
type Member<T> = Plain<unknown extends T ? T : Exclude<T, undefined>>;

type Merged<T> = { [K in keyof T]: T[K] };
