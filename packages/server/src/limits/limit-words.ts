import { bucketView, formatInstant, type LimitDenial } from "@engine/contract";

/** What a user is told of a limit that has no place now, and what would end the wait. */
export function limitWords(denied: LimitDenial | undefined): string {
  if (!denied) return "a limit of its workflow has no place for it";
  const { kind, of, key } = bucketView(denied.limit.bucket);
  const limit = kind === "limit" ? `limit ${of}` : of;
  const whose = key === null ? limit : `${limit} for key ${key}`;
  switch (denied.reason) {
    case "limit_undefined":
      return `limit ${denied.name} is not defined; define it with \`engine limit set ${denied.name} --concurrency N\``;
    case "rate_limit": {
      const { count, period_ms, free_at } = denied;
      return `${whose} lets ${count} begin in ${period_ms / 1000} s, and as many have; the next may at ${formatInstant(free_at)}`;
    }
    case "concurrency_limit": {
      const { count, held } = denied;
      if (count === 0) return `${whose} lets nothing start; raise its concurrency`;
      return `${held} of ${count} ${count === 1 ? "place" : "places"} of ${whose} are taken; one is free when an execution that has it ends or waits`;
    }
  }
}
