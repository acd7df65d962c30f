/**
 * The paths that an input of a type has, joined by dots: `"tenant" | "tenant.region"`. Any text where the
 * type is not known; none into lists. Names below the third level are not looked at.
 */
export type InputPath<Input> =
  IsUnknown<Input> extends true
    ? string
    : [Input] extends [null | undefined]
      ? string
      : {
          [Name in NameOf<Input>]: `${Name}` | Under<Name, Second<At<Input, Name>>>;
        }[NameOf<Input>];

type Second<Value> =
  IsUnknown<Value> extends true
    ? string
    : { [Name in NameOf<Value>]: `${Name}` | Under<Name, Third<At<Value, Name>>> }[NameOf<Value>];

type Third<Value> =
  IsUnknown<Value> extends true
    ? string
    : { [Name in NameOf<Value>]: `${Name}` | Under<Name, Deeper<At<Value, Name>>> }[NameOf<Value>];

type Deeper<Value> =
  IsUnknown<Value> extends true ? string : [NameOf<Value>] extends [never] ? never : string;

type Under<Name extends string | number, Path extends string> = `${Name}.${Path}`;

type IsUnknown<Value> = 0 extends 1 & Value ? true : unknown extends Value ? true : false;

/** Of any branch of a union; lists, functions and plain values have none. */
type NameOf<Value> = Value extends Nameless ? never : keyof Value & (string | number);

type Nameless =
  | string
  | number
  | bigint
  | boolean
  | symbol
  | null
  | undefined
  | readonly unknown[]
  | ((...values: never[]) => unknown);

/** What lies there in those branches that have the name. */
type At<Value, Name> = Value extends Nameless
  ? never
  : Name extends keyof Value
    ? Value[Name]
    : never;
