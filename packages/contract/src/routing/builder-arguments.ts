import type * as z from "zod";
import { describe } from "./term-checks.ts";

/** One thing that is wrong with a call of a builder. */
export interface BuildIssue {
  /** Which argument, from 0; null: the call as a whole. */
  readonly argument: number | null;
  /** The option within that argument, where it is one of several. */
  readonly option?: string;
  readonly message: string;
}

/** Ends a builder that was called wrongly. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly issues: readonly BuildIssue[];

  constructor(issues: readonly BuildIssue[]);
  constructor(argument: number | null, message: string);
  constructor(first: readonly BuildIssue[] | number | null, message = "") {
    super(message);
    this.issues =
      typeof first === "object" && first !== null ? first : [{ argument: first, message }];
  }
}

/**
 * An argument of a builder.
 *
 * @param expected What it has to be, in words.
 */
export function argumentOf<Form extends z.ZodType>(
  values: readonly unknown[],
  at: number,
  form: Form,
  { builder, expected }: { readonly builder: string; readonly expected: string },
): z.infer<Form> {
  const read = form.safeParse(values[at]);
  if (read.success) return read.data;
  const given = values[at];
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const got = given === undefined ? "nothing" : describe(given);
    throw new Refused(
      given === undefined ? null : at,
      `${builder}() takes ${expected}; got ${got}`,
    );
  }
  const issues = read.error.issues.flatMap((issue): BuildIssue[] => {
    const unknown = issue.code === "unrecognized_keys" ? issue.keys : undefined;
    if (unknown) {
      return unknown.map((option) => {
        const message = `${builder}() has no option ${option}; it takes ${expected}`;
        return { argument: at, option, message };
      });
    }
    const [option] = issue.path;
    if (typeof option !== "string") {
      const message = `${builder}() takes ${expected}; got ${describe(given)}`;
      return [{ argument: at, message }];
    }
    const got = describe((given as Record<string, unknown>)[option]);
    const message = `${builder}() takes ${expected}; got ${got} as ${option}`;
    return [{ argument: at, option, message }];
  });
  throw new Refused(issues);
}

/** What a builder would pass over is refused, so that nothing is dropped unseen. */
export function atMost(values: readonly unknown[], most: number, builder: string): void {
  if (values.length <= most) return;
  const count = most === 0 ? "no argument" : most === 1 ? "one argument" : `${most} arguments`;
  throw new Refused(most, `${builder}() takes ${count}; got ${values.length}`);
}
