import type { Json } from "@engine/contract";
import { expect, expectTypeOf, test } from "vitest";
import type { Client } from "./client.ts";
import type { ExecutionHandle } from "./execution-handle.ts";
import type { Plain } from "./plain.ts";
import type { WorkflowClient } from "./workflow-client.ts";

/** As the SDK declares what a workflow carries. */
interface Workflow<Input, Output> {
  readonly name: string;
  readonly "~input"?: Input;
  readonly "~output"?: Output;
}

test("EXE-48 the type of a value says what it is once it came over HTTP", () => {
  expectTypeOf<Plain<string | number | boolean | null>>().toEqualTypeOf<
    string | number | boolean | null
  >();
  expectTypeOf<Plain<Date | bigint | URL | Uint8Array>>().toEqualTypeOf<string>();
  expectTypeOf<Plain<Map<string, Date>>>().toEqualTypeOf<Record<string, string>>();
  expectTypeOf<Plain<Map<number, Date>>>().toEqualTypeOf<
    [number, string][] | Record<string, never>
  >();
  expectTypeOf<Plain<Set<bigint>>>().toEqualTypeOf<string[]>();
  expectTypeOf<Plain<TypeError>>().toEqualTypeOf<{ type: string; message: string }>();
  expectTypeOf<Plain<readonly [Date, number?]>>().toEqualTypeOf<[string, (number | null)?]>();
  expectTypeOf<Plain<readonly (Date | undefined)[]>>().toEqualTypeOf<(string | null)[]>();
  expectTypeOf<Plain<undefined>>().toEqualTypeOf<null>();
  expectTypeOf<Plain<void>>().toEqualTypeOf<null>();
  expectTypeOf<Plain<never>>().toEqualTypeOf<never>();
  expectTypeOf<Plain<unknown>>().toEqualTypeOf<Json>();
  expectTypeOf<Plain<Json>>().toEqualTypeOf<Json>();
  // biome-ignore lint/suspicious/noExplicitAny: what becomes of it is the question
  expectTypeOf<Plain<any>>().toBeAny();
  expectTypeOf<Plain<"a" | "b">>().toEqualTypeOf<"a" | "b">();
  expectTypeOf<Plain<{ toJSON(): { at: Date } }>>().toEqualTypeOf<{ at: string }>();
});

test("EXE-48 members that may be undefined may be missing, the others are there", () => {
  interface Receipt {
    readonly at: Date;
    readonly total: bigint;
    readonly note?: string;
    readonly by: URL | undefined;
    readonly extra: unknown;
    readonly lines: readonly { readonly sku: string; readonly when: Date | null }[];
    readonly rates: { readonly [currency: string]: bigint | undefined };
    readonly corrects: Receipt | null;
  }
  interface PlainReceipt {
    at: string;
    total: string;
    lines: { sku: string; when: string | null }[];
    rates: { [currency: string]: string };
    corrects: PlainReceipt | null;
    note?: string;
    by?: string;
    extra?: Json;
  }
  expectTypeOf<Plain<Receipt>>().toEqualTypeOf<PlainReceipt>();
  expectTypeOf<Plain<{ name: string; message: string }>>().toEqualTypeOf<{
    name: string;
    message: string;
  }>();
  expectTypeOf<Plain<{ kind: "a"; at: Date } | { kind: "b" }>>().toEqualTypeOf<
    { kind: "a"; at: string } | { kind: "b" }
  >();
});

type Checkout = Workflow<{ cart: string; at: Date }, { paid: bigint } | undefined>;
declare const client: Client;

test("EXE-90 a workflow's type gives input and output of its client", () => {
  const calls = () => {
    const checkout = client.workflow<Checkout>("shop/checkout");
    expectTypeOf(checkout.run).parameter(0).toEqualTypeOf<{ cart: string; at: Date }>();
    expectTypeOf(checkout.run).returns.resolves.toEqualTypeOf<{ paid: string } | null>();
    expectTypeOf(checkout.start).returns.resolves.toEqualTypeOf<
      ExecutionHandle<{ paid: string } | null>
    >();
    expectTypeOf(checkout.get("e1").result).returns.resolves.toEqualTypeOf<{
      paid: string;
    } | null>();

    const untyped = client.workflow("shop/checkout");
    expectTypeOf(untyped.run).returns.resolves.toEqualTypeOf<Json>();
    expectTypeOf(untyped.run).parameter(0).toEqualTypeOf<unknown>();
  };
  expect(calls).toBeTypeOf("function");
});

test("EXE-90 an input may be left out only where it may be undefined", () => {
  type Args<Input> = Parameters<WorkflowClient<Workflow<Input, void>>["start"]>["length"];
  expectTypeOf<Args<string>>().toEqualTypeOf<1 | 2>();
  expectTypeOf<Args<undefined>>().toEqualTypeOf<0 | 1 | 2>();
  expectTypeOf<Args<string | undefined>>().toEqualTypeOf<0 | 1 | 2>();
  expectTypeOf<Args<unknown>>().toEqualTypeOf<0 | 1 | 2>();
});

test("EXE-90 misuse does not compile", () => {
  const misuse = () => {
    const checkout = client.workflow<Checkout>("shop/checkout");
    return [
      // @ts-expect-error the input is missing
      checkout.run(),
      // @ts-expect-error the input is of another type
      checkout.run({ cart: 1 }),
      // @ts-expect-error no such option
      checkout.start({ cart: "c1", at: new Date(0) }, { key: "order-17" }),
      // @ts-expect-error a function is no workflow
      client.workflow<() => void>("shop/checkout"),
    ];
  };
  expect(misuse).toBeTypeOf("function");
});
