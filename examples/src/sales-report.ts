/**
 * A report over a real export: parse, validate, convert in chunks, summarise. Each step is a task, so
 * a process that dies in the middle loses at most the chunks it was working on.
 */
import { appendFile, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { map, task, workflow } from "@engine/sdk";
import { z } from "zod";

const CHUNK = 75;
const RATES: Readonly<Record<string, number>> = {
  EUR: 1,
  USD: 0.92,
  GBP: 1.17,
  JPY: 0.0061,
  CHF: 1.04,
};

const ReportInput = z.object({
  /** The export to read, relative to where the worker runs. */
  file: z.string(),
  /** A file that gets one line per chunk converted: shows which work was done, and how often. */
  audit: z.string().nullable().default(null),
  /** Milliseconds the rate service takes. */
  latency: z.int().min(0).max(10_000).default(10),
});

//#region validate
const Sale = z.object({
  order_id: z.string().regex(/^S-\d{6}$/),
  ordered_at: z.iso.date(),
  customer: z.string().trim().min(1),
  country: z.string().length(2),
  sku: z.string().min(1),
  quantity: z.coerce.number().int().positive(),
  unit_price: z
    .string()
    .min(1)
    .transform((text) => Number(text.replace(",", ".")))
    .pipe(z.number().nonnegative()),
  currency: z
    .string()
    .toUpperCase()
    .pipe(z.enum(["EUR", "USD", "GBP", "JPY", "CHF"])),
});
type Sale = z.infer<typeof Sale>;

const validate = task({ name: "validate" }, async (rows: Record<string, string>[]) => {
  const sales = new Map<string, Sale>();
  const rejected: Record<string, number> = {};
  let duplicates = 0;
  for (const row of rows) {
    const parsed = Sale.safeParse(row);
    if (!parsed.success) {
      const field = String(parsed.error.issues[0]?.path[0]);
      rejected[field] = (rejected[field] ?? 0) + 1;
    } else if (sales.has(parsed.data.order_id)) duplicates++;
    else sales.set(parsed.data.order_id, parsed.data);
  }
  return { sales: [...sales.values()], rejected, duplicates };
});
//#endregion

const readRows = task({ name: "read_rows" }, async (file: string) => {
  const [header = [], ...rows] = parseCsv(await readFile(file, "utf8"));
  return rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] ?? ""])));
});

interface Converted {
  month: string;
  country: string;
  cents: number;
}

const convert = task(
  { name: "convert", retry: { maxAttempts: 3, delay: "200ms" }, timeout: "30s" },
  async (
    chunk: { sales: Sale[]; audit: string | null; latency: number },
    { executionId, taskCallId, attempt },
  ): Promise<Converted[]> => {
    await wait(chunk.latency); // Stands for one request to a rate service.
    const converted = chunk.sales.map((sale) => ({
      month: sale.ordered_at.slice(0, 7),
      country: sale.country,
      cents: Math.round(sale.quantity * sale.unit_price * 100 * (RATES[sale.currency] ?? 0)),
    }));
    if (chunk.audit !== null) {
      await appendFile(chunk.audit, `${executionId} ${taskCallId} ${attempt}\n`);
    }
    return converted;
  },
);

const summarise = task({ name: "summarise" }, async (lines: Converted[]) => {
  const sumBy = (key: "month" | "country") => {
    const sums: Record<string, number> = {};
    for (const line of lines) sums[line[key]] = (sums[line[key]] ?? 0) + line.cents;
    return Object.fromEntries(Object.entries(sums).sort(([a], [b]) => a.localeCompare(b)));
  };
  return {
    revenue_cents: lines.reduce((sum, line) => sum + line.cents, 0),
    by_month: sumBy("month"),
    by_country: sumBy("country"),
  };
});

//#region workflow
/** Turns a sales export into revenue in euro cents, and says what it left out and why. */
export const salesReport = workflow(
  { name: "sales_report", namespace: "examples", input: ReportInput },
  async ({ file, audit, latency }) => {
    const rows = await readRows(file);
    const { sales, rejected, duplicates } = await validate(rows);
    const chunks = Array.from({ length: Math.ceil(sales.length / CHUNK) }, (_, i) =>
      sales.slice(i * CHUNK, (i + 1) * CHUNK),
    );
    const converted = await map(chunks, (sales) => convert({ sales, audit, latency }), {
      concurrency: 4,
    });
    const sums = await summarise(converted.flat());
    return { rows: rows.length, accepted: sales.length, duplicates, rejected, ...sums };
  },
);
//#endregion

/** RFC 4180: quoted fields may hold commas, line ends and doubled quotes. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  field.lastIndex = text.startsWith("\uFEFF") ? 1 : 0;
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const match = field.exec(text);
    if (!match) throw new Error(`not CSV at character ${at}: ${text.slice(at, at + 40)}`);
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
