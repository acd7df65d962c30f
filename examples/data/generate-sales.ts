/**
 * Writes `sales.csv`, an export of a shop with the mess such exports have, and `sales.expected.json`,
 * what a correct report of it says. The generator knows what it planted, so the example is checked
 * against something that did not read the file. Same seed, same bytes; `--check` only compares.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROWS = 3000;
const COUNTRIES = ["DE", "FR", "GB", "US", "JP", "CH", "NL", "PT"] as const;
const CURRENCY = {
  DE: "EUR",
  FR: "EUR",
  GB: "GBP",
  US: "USD",
  JP: "JPY",
  CH: "CHF",
  NL: "EUR",
  PT: "EUR",
};
const EUR_RATES = { EUR: 1, USD: 0.92, GBP: 1.17, JPY: 0.0061, CHF: 1.04 } as const;
const CUSTOMERS = [
  "Ada Byron",
  "Grünwald, Söhne & Co",
  'The "Corner" Shop',
  "O'Neill Ltd",
  "Nakamura Yuki",
  "Duarte, Lopes e Filhos",
  "Bergström AB",
  "Plain & Simple, Inc.",
];
const PRODUCTS = [
  ["KB-101", "Keyboard, mechanical", 8990],
  ["MS-204", "Mouse", 2450],
  ["MN-330", 'Monitor 27" matt', 31900],
  ["CB-007", "Cable USB-C, 2 m", 1295],
  ["DK-415", "Dock", 15900],
  ["HS-052", "Headset", 7490],
] as const;
const HEADER = "order_id,ordered_at,customer,country,sku,product,quantity,unit_price,currency";

type Row = Record<
  "ordered_at" | "customer" | "product" | "quantity" | "unit_price" | "currency",
  string
>;

/** mulberry32: small, seeded, the same numbers on every machine. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const random = seeded(20260401);
const below = (n: number) => Math.floor(random() * n);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const pad = (n: number) => String(n).padStart(2, "0");

const lines: string[] = [];
const rejected: Record<string, number> = {};
const revenue: Record<string, number> = {};
const byCountry: Record<string, number> = {};
let accepted = 0;
let duplicates = 0;

for (let n = 1; n <= ROWS; n++) {
  const country = pick(COUNTRIES);
  const [sku, product, euroCents] = pick(PRODUCTS);
  const month = pad(1 + below(3));
  const currency = CURRENCY[country] as keyof typeof EUR_RATES;
  const quantity = 1 + below(9);
  const unit = (euroCents / 100 / EUR_RATES[currency]).toFixed(currency === "JPY" ? 0 : 2);
  const row = {
    order_id: `S-${String(100_000 + n)}`,
    ordered_at: `2026-${month}-${pad(1 + below(28))}`,
    customer: pick(CUSTOMERS),
    country: country as string,
    sku: sku as string,
    product: product as string,
    quantity: String(quantity),
    unit_price: unit,
    currency: currency as string,
  };
  const flaw = spoil(row);
  const line = Object.values(row).map(quoted).join(",");
  lines.push(line);
  if (flaw) rejected[flaw] = (rejected[flaw] ?? 0) + 1;
  else {
    const cents = Math.round(quantity * Number(unit) * 100 * EUR_RATES[currency]);
    accepted++;
    revenue[`2026-${month}`] = (revenue[`2026-${month}`] ?? 0) + cents;
    byCountry[country] = (byCountry[country] ?? 0) + cents;
    if (random() < 0.02) {
      // The export was run twice over some rows: the same order, further down.
      lines.splice(lines.length - below(Math.min(20, lines.length)), 0, line);
      duplicates++;
    }
  }
}

/** Makes about one row in twelve unusable and some others merely ugly; names the bad field. */
function spoil(row: Row): string | undefined {
  const chance = random();
  if (chance < 0.02) {
    row.ordered_at = pick(["2026-02-30", "31/12/2025", "yesterday", "2026-1-7"]);
    return "ordered_at";
  }
  if (chance < 0.035) {
    row.customer = "";
    return "customer";
  }
  if (chance < 0.05) {
    row.quantity = pick(["", "0", "-2", "three"]);
    return "quantity";
  }
  if (chance < 0.065) {
    row.unit_price = pick(["", "n/a", "-1.00"]);
    return "unit_price";
  }
  if (chance < 0.075) {
    row.currency = pick(["", "BTC", "€"]);
    return "currency";
  }
  if (chance < 0.1) row.currency = row.currency.toLowerCase();
  else if (chance < 0.13) row.customer = ` ${row.customer} `;
  else if (chance < 0.14) row.product = `${row.product}\n(see note)`;
  else if (chance < 0.15) row.unit_price = row.unit_price.replace(".", ",");
  return undefined;
}

const sorted = (record: Record<string, number>) =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => a.localeCompare(b)));
const total = Object.values(revenue).reduce((sum, cents) => sum + cents, 0);
const expected = {
  rows: lines.length,
  accepted,
  duplicates,
  rejected: sorted(rejected),
  revenue_cents: total,
  by_month: sorted(revenue),
  by_country: sorted(byCountry),
};

const outputs = {
  "sales.csv": `\uFEFF${[HEADER, ...lines].join("\r\n")}\r\n`,
  "sales.expected.json": `${JSON.stringify(expected, null, 2)}\n`,
};
for (const [name, text] of Object.entries(outputs)) {
  const path = join(import.meta.dirname, name);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    console.error(`${name} is not what this script writes: run it without --check`);
    process.exitCode = 1;
  }
}
