import {
  type BuildIssue,
  buildComparison,
  buildRouting,
  type CompareOp,
  EngineError,
  type RoutingBuild,
  type RoutingBuilder,
} from "@engine/contract";

/** What a builder returns, with the members that compare it; they are no part of its data. */
export function made<Part>(builder: RoutingBuilder, values: readonly unknown[]): Part {
  const value = unlessRefused(builder, buildRouting(builder, values));
  return (isComparable(value) ? new Comparable(value) : value) as Part;
}

class Comparable {
  constructor(data: object) {
    Object.assign(this, data);
  }

  eq(value: unknown): unknown {
    return compared(this, "eq", value);
  }
  ne(value: unknown): unknown {
    return compared(this, "ne", value);
  }
  lt(value: unknown): unknown {
    return compared(this, "lt", value);
  }
  lte(value: unknown): unknown {
    return compared(this, "lte", value);
  }
  gt(value: unknown): unknown {
    return compared(this, "gt", value);
  }
  gte(value: unknown): unknown {
    return compared(this, "gte", value);
  }
}

/** Selectors and values of an execution, which are nothing by themselves. */
const COMPARABLE: ReadonlySet<unknown> = new Set([
  "label",
  "meta",
  "metric",
  "resource",
  "load",
  "utilization",
  "input",
  "routing_input",
]);

function isComparable(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && "kind" in value && COMPARABLE.has(value.kind)
  );
}

function compared(left: Comparable, op: CompareOp, value: unknown): unknown {
  const result = buildComparison(left, op, [value]);
  if (!result) throw new Error(`nothing that compares by ${op}`);
  return unlessRefused(`.${op}`, result);
}

function unlessRefused(path: string, result: RoutingBuild): unknown {
  if (!result.issues) return result.value;
  const issues = result.issues.map(({ option, message }: BuildIssue) => ({
    path: option ?? path,
    message,
  }));
  const message = issues.map((issue) => issue.message).join("; ");
  throw new EngineError("invalid_definition", message, { details: { issues } });
}
