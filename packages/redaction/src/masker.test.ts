import { describe, expect, test } from "vitest";
import { createMasker } from "./masker.ts";

const M = "***REDACTED***";

/** Strangers' ways of percent-encoding, by the characters they leave as they are. */
function percentEncoded(text: string, kept: RegExp, digits: "upper" | "lower"): string {
  return Array.from(text, (letter) => {
    if (kept.test(letter)) return letter;
    const hex = Buffer.from(letter).toString("hex");
    return (digits === "upper" ? hex.toUpperCase() : hex).replace(/../g, "%$&");
  }).join("");
}

const SECRETS = ["hunter22", 'p"a\\ss/wörd 🔑 +%', "  trimmed-secret\t", "pass phrase of 4 words"];

describe.each(SECRETS)("RED-1 the secret %j is masked", (secret) => {
  const masker = createMasker([secret]);
  const around = (form: string) => [`<${form}>`, masker.text(`<${form}>`)];

  test("as it is", () => {
    expect(masker.text(`<${secret}>`)).toBe(`<${M}>`);
    expect(masker.text(secret)).toBe(M);
  });

  test("trimmed", () => {
    expect(masker.text(`<${secret.trim()}>`)).toBe(`<${M}>`);
  });

  test("within JSON within a text, twice over, and however it is escaped", () => {
    const once = JSON.stringify({ key: secret });
    expect(masker.text(once)).toBe(JSON.stringify({ key: M }));
    expect(masker.text(JSON.stringify(once))).toBe(JSON.stringify(JSON.stringify({ key: M })));
    const codes = secret.replace(
      /[\s\S]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    expect(masker.text(`"${codes}"`)).toBe(`"${M}"`);
    expect(masker.text(once.replaceAll("/", "\\/"))).toBe(JSON.stringify({ key: M }));
  });

  test("percent-encoded by whoever, with digits of either case", () => {
    const encoders = [
      encodeURIComponent(secret),
      encodeURI(secret),
      encodeURIComponent(encodeURIComponent(secret)),
      new URLSearchParams({ q: secret }).toString().slice(2),
      ...[/[\w.~-]/, /[\w.~/-]/, /[\w*.-]/, /(?!)/].flatMap((kept) => [
        percentEncoded(secret, kept, "upper"),
        percentEncoded(secret, kept, "lower"),
      ]),
    ];
    for (const form of encoders) expect(around(form)).toEqual([`<${form}>`, `<${M}>`]);
  });

  test("in hex of either case", () => {
    const hex = Buffer.from(secret).toString("hex");
    for (const form of [hex, hex.toUpperCase()]) {
      expect(around(form)).toEqual([`<${form}>`, `<${M}>`]);
    }
  });

  test.each([0, 1, 2, 3, 4, 5])("in base64 with %i bytes before it", (before) => {
    for (const after of ["", "!", "??", "---"]) {
      for (const encoding of ["base64", "base64url"] as const) {
        const bytes = Buffer.from("#".repeat(before) + secret + after);
        const form = bytes.toString(encoding);
        const seen = masker.text(`<${form}>`);
        // All but the characters which bytes of others have a part in.
        const left = seen.replace(M, "").length - 2;
        expect([form, seen.split(M).length]).toEqual([form, 2]);
        expect(left).toBeLessThanOrEqual(Math.ceil(((before + after.length) * 8 + 8) / 6) + 3);
      }
    }
  });
});

test("RED-1 a value is found in strings and keys of JSON in every form that a text may have it in", () => {
  for (const secret of SECRETS) {
    const masker = createMasker([secret]);
    const bytes = Buffer.from(secret);
    const forms = [secret, secret.trim(), encodeURIComponent(secret), bytes.toString("hex")];
    for (const form of [...forms, new URLSearchParams([["", secret]]).toString().slice(1)]) {
      const seen = [masker.json(JSON.stringify({ a: form, [form]: 1, n: [form] })), form];
      expect(seen).toEqual([`{"a":"${M}","${M}":1,"n":["${M}"]}`, form]);
    }
  }
});

test("RED-1 characters of several bytes are encoded whole, wherever in a value they are", () => {
  for (let before = 0; before < 40; before++) {
    const secret = `${"x".repeat(before)}${"🔑é".repeat(20)}`;
    const masker = createMasker([secret]);
    const hex = Buffer.from(secret).toString("hex");
    for (const form of [secret, hex, encodeURIComponent(secret)]) {
      expect([before, masker.text(`<${form}>`)]).toEqual([before, `<${M}>`]);
    }
    const escaped = `${secret}"`;
    expect(createMasker([escaped]).json(JSON.stringify([escaped]))).toBe(`["${M}"]`);
    const base64 = masker.text(Buffer.from(secret).toString("base64"));
    expect([before, base64.startsWith(M)]).toEqual([before, true]);
  }
});

test("RED-1 percents that encode nothing do not hide what follows them", () => {
  const masker = createMasker(["ABCDEFGH"]);
  for (const before of ["%", "%4", "%C3", "%E2%82", "%F0%9F%94", "%FF", "%zz"]) {
    expect(masker.text(`${before}%41BCDEFGH`)).toBe(before + M);
  }
});

test("RED-1 each line of a value of several lines is masked, and the whole of it", () => {
  const key =
    "-----BEGIN KEY-----\r\n  MIIEvQIBADANBgkq\nshort\nAoIBAQC7VJTUt9Us\n-----END KEY-----\n";
  const masker = createMasker([key]);
  expect(masker.text(`first ${key}last`)).toBe(`first ${M}last`);
  expect(masker.text("1: MIIEvQIBADANBgkq 2: AoIBAQC7VJTUt9Us 3: short")).toBe(
    `1: ${M} 2: ${M} 3: short`,
  );
  expect(masker.json(JSON.stringify({ log: `x ${key}`, line: "\tAoIBAQC7VJTUt9Us" }))).toBe(
    JSON.stringify({ log: `x ${M}`, line: `\t${M}` }),
  );
});

test("RED-1 the longest match wins, and nothing of a value that overlaps another one is left", () => {
  const masker = createMasker(["password", "password-123", "123-4567890", "zzzzzzzz"]);
  expect(masker.text("a password, password-123 and password-12")).toBe(`a ${M}, ${M} and ${M}-12`);
  expect(masker.text("password-123-4567890!")).toBe(`${M}!`);
  expect(masker.text("passwordpassword")).toBe(`${M}${M}`);
  expect(masker.text("z".repeat(13))).toBe(M);
});

test("RED-1 AUTH-11 what has the shape of an engine token is masked without being known", () => {
  const masker = createMasker([]);
  expect(masker.isEmpty).toBe(true);
  const secret = "A-_9".repeat(11).slice(1);
  for (const token of [
    `engine_sk_abcdefghij12_${secret}`,
    `engine_wk_abcdefghij12_${secret}`,
    `engine_jt_abcdefghij12_${secret}`,
    `engine_bt_abcdefghij12_${secret}`,
    `engine_et_eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJlbmdpbmUifQ.${secret}`,
    `engine_in_${secret}`,
  ]) {
    expect([token, masker.text(`Bearer ${token}, "x"`)]).toEqual([token, `Bearer ${M}, "x"`]);
    expect(masker.json(JSON.stringify({ [token]: [token] }))).toBe(`{"${M}":["${M}"]}`);
    expect(masker.value({ token })).toEqual({ token: M });
    expect(createMasker(["hunter22"]).text(`${token} hunter22`)).toBe(`${M} ${M}`);
    const escaped = token.replace("engine", "\\u0065ngine");
    expect(masker.json(`{"a":"${escaped}"}`)).toBe(`{"a":"${M}"}`);
  }
  for (const other of ["engine_version", "engine_in_progress", "engine_sk_short", "a.b.c"]) {
    expect(masker.text(other)).toBe(other);
  }
});

test("RED-1 how many parts of a text, and how many values, were masked is counted", () => {
  const masker = createMasker(["hunter22", "12345678"]);
  expect(masker.textCounted("hunter22 and hunter22")).toEqual({ text: `${M} and ${M}`, count: 2 });
  expect(masker.textCounted("nothing here")).toEqual({ text: "nothing here", count: 0 });
  const value = { a: "hunter22 hunter22", hunter22: [12_345_678, "x"], b: { c: "engine_jt_x" } };
  expect(masker.count(value)).toBe(4);
  expect(masker.count({ a: 1, b: ["hunter2"] })).toBe(0);
});

test("RED-1 keys that become equal are told apart by a number", () => {
  const masker = createMasker(["hunter22", "hunter23", "hunter24"]);
  const value = { hunter22: 1, a: { hunter23: 2 }, "***REDACTED***": 3, hunter23: 4, hunter24: 5 };
  const seen = { [M]: 1, a: { [M]: 2 }, [`${M}#2`]: 3, [`${M}#3`]: 4, [`${M}#4`]: 5 };
  expect(masker.value(value)).toEqual(seen);
  expect(JSON.parse(masker.json(JSON.stringify(value)))).toEqual(seen);
  const inner = { a: { [M]: 1, b: 2 }, hunter22: [{ hunter23: 3 }] };
  expect(masker.json(JSON.stringify(inner))).toBe(
    JSON.stringify({ a: { [M]: 1, b: 2 }, [M]: [{ [M]: 3 }] }),
  );
});

test("RED-1 a value is masked as JSON shows it, and is itself where nothing in it is masked", () => {
  const masker = createMasker(["hunter22", "12345678", "2026-01-01T00:00:00.000Z"]);
  const same = { a: [1, null, { b: undefined }], d: new Date(0), __proto__: 1 };
  expect(masker.value(same)).toBe(same);
  expect(masker.value("hunter22")).toBe(M);
  expect(masker.value(-12_345_678)).toBe(`-${M}`);
  expect(masker.value(12_345_678n)).toBe(M);
  expect(masker.value({ at: new Date(Date.UTC(2026, 0, 1)) })).toEqual({ at: M });
  const proto = masker.value(JSON.parse('{"__proto__":{"a":"hunter22"}}')) as object;
  expect(JSON.stringify(proto)).toBe(`{"__proto__":{"a":"${M}"}}`);
  expect(Object.getPrototypeOf(proto)).toBe(Object.prototype);
});

test("RED-1 a value that holds itself, or is deeper than the stack, is masked all the same", () => {
  const masker = createMasker(["hunter22"]);
  const circle: { self?: object; secret: string } = { secret: "hunter22" };
  circle.self = circle;
  const seen = masker.value(circle) as typeof circle;
  expect(seen.secret).toBe(M);
  expect(seen.self).toBe(seen);
  const depth = 20_000;
  const text = `${'{"a":['.repeat(depth)}"hunter22"${"]}".repeat(depth)}`;
  expect(masker.count(JSON.parse(text))).toBe(1);
  expect(masker.json(text)).toBe(text.replace("hunter22", M));
});

test("RED-1 values that are too short to be told from other text are left out", () => {
  const masker = createMasker(["short", "1234567", " \n \n \n \n \n"]);
  expect(masker.isEmpty).toBe(true);
  expect(masker.text("short 1234567 \n \n \n \n \n")).toBe("short 1234567 \n \n \n \n \n");
});
