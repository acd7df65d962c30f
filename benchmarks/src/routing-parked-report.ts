import type { Report } from "./measure.ts";
import type { ParkedJobs } from "./parked-jobs.ts";
import { ratios } from "./routing-engine.ts";
import type { Memory } from "./server-memory.ts";
import { median, percentile } from "./stats.ts";
import { count, ms, type Table } from "./table.ts";

/** One engine, with what was measured of it. */
export interface ParkedSide {
  readonly name: string;
  readonly jobs: ParkedJobs;
  /** Of fresh executions, for each round. */
  readonly p50: number[];
  /** All of them. */
  readonly taken: number[];
  readonly loads: readonly { readonly concurrency: number; readonly perSecond: number[] }[];
  readonly writes: {
    readonly fromRequest: number[];
    readonly fromAnswer: number[];
    /** For each round. */
    readonly p50FromRequest: number[];
    readonly p50FromAnswer: number[];
  };
}

interface Measured {
  readonly none: ParkedSide;
  readonly crowd: ParkedSide;
  readonly parked: number;
  readonly few: number;
  readonly tasks: number;
  /** Bytes for each that is parked. */
  readonly memory: Memory;
}

type Part = Report & { readonly tables: readonly [Table] };

export function parkedReport(measured: Measured): Report {
  const parts = [fresh(measured), writes(measured), memoryOf(measured)];
  return {
    tables: parts.flatMap(({ tables }) => tables),
    figures: Object.assign({}, ...parts.map(({ figures }) => figures)),
    samples: Object.assign({}, ...parts.map(({ samples }) => samples)),
  };
}

function fresh({ none, crowd, tasks }: Measured): Part {
  const loads = none.loads.map(({ concurrency, perSecond }, i) => {
    const beside = crowd.loads[i]?.perSecond ?? [];
    return {
      concurrency,
      none: perSecond,
      crowd: beside,
      ratio: median(ratios(beside, perSecond)),
    };
  });
  const p50 = median(ratios(crowd.p50, none.p50));
  const row = (side: ParkedSide) => [
    side.name,
    ms(median(side.p50)),
    ms(percentile(side.taken, 99)),
    ...side.loads.map(({ perSecond }) => count(median(perSecond))),
  ];
  const p99 = percentile(crowd.taken, 99) / percentile(none.taken, 99);
  const figures: Record<string, number> = {
    "beside parked, p50 ratio": p50,
    "beside parked, p99 ratio": p99,
    "none parked: p50 ms": median(none.p50),
    "parked: p50 ms": median(crowd.p50),
  };
  const samples: Record<string, readonly number[]> = {
    "none parked: ms": none.taken,
    "parked: ms": crowd.taken,
  };
  for (const load of loads) {
    const name = `tasks/s at ${load.concurrency}`;
    figures[`beside parked, ${name} ratio`] = load.ratio;
    samples[`none parked: ${name}`] = load.none;
    samples[`parked: ${name}`] = load.crowd;
  }
  const last = ["with ÷ without", p50.toFixed(2), p99.toFixed(2)];
  return {
    tables: [
      {
        title: `Beside executions that wait for an attribute of their own, by turns: a fresh one from the request to the first line of its body; tasks/s of ${tasks}-task workflows`,
        columns: ["", "p50", "p99", ...loads.map(({ concurrency }) => `tasks/s at ${concurrency}`)],
        rows: [row(none), row(crowd), [...last, ...loads.map(({ ratio }) => ratio.toFixed(3))]],
      },
    ],
    figures,
    samples,
  };
}

function writes({ none, crowd, parked, few }: Measured): Part {
  const row = (size: number, { writes: of }: ParkedSide) => [
    `${count(size)} parked`,
    ms(median(of.p50FromRequest)),
    ms(median(of.p50FromAnswer)),
    ms(percentile(of.fromRequest, 99)),
    ms(percentile(of.fromAnswer, 99)),
    String(of.fromAnswer.length),
  ];
  const request = median(ratios(crowd.writes.p50FromRequest, none.writes.p50FromRequest));
  const answers = [crowd, none].map(({ writes: of }) => median(of.p50FromAnswer));
  // Where a body is quicker than the answer there is nothing to divide by.
  const answer = answers.every((value) => value > 0)
    ? median(ratios(crowd.writes.p50FromAnswer, none.writes.p50FromAnswer))
    : undefined;
  return {
    tables: [
      {
        title: "A write of metadata that lets one of them start, to the first line of its body",
        columns: ["", "from request", "from answer", "p99, request", "p99, answer", "samples"],
        rows: [
          row(few, none),
          row(parked, crowd),
          ["many ÷ few", request.toFixed(2), answer?.toFixed(2) ?? "–", "", "", ""],
        ],
      },
    ],
    figures: {
      "write to start, from the request, ratio": request,
      ...(answer !== undefined && { "write to start, from the answer, ratio": answer }),
      "few parked: write to start ms": median(none.writes.p50FromAnswer),
      "parked: write to start ms": median(crowd.writes.p50FromAnswer),
    },
    samples: {
      "few parked: from request ms": none.writes.fromRequest,
      "few parked: from answer ms": none.writes.fromAnswer,
      "parked: from request ms": crowd.writes.fromRequest,
      "parked: from answer ms": crowd.writes.fromAnswer,
    },
  };
}

function memoryOf({ parked, memory: { held, resident } }: Measured): Part {
  return {
    tables: [
      {
        title: `Memory of the server for each of ${count(parked)} that wait`,
        columns: ["", "bytes"],
        rows: [
          ["held after a collection", count(held)],
          ["resident", count(resident)],
        ],
      },
    ],
    figures: { "bytes of a parked one, held": held, "bytes of a parked one, resident": resident },
    samples: {},
  };
}
