import { EngineError } from "@engine/contract";
import { DatabaseError } from "pg";
import { masked, type PostgresTarget } from "./postgres-url.ts";

/** Why a database cannot be opened, in one line for an operator and without its password. */
export function openingFailure(target: PostgresTarget, cause: unknown): EngineError {
  const { place } = target;
  if (cause instanceof EngineError) {
    return new EngineError(cause.code, `${place}: ${cause.message}`, { cause });
  }
  return new EngineError("unavailable", messageOf(target, cause), { cause });
}

function messageOf(target: PostgresTarget, cause: unknown): string {
  const { place } = target;
  const code = cause instanceof DatabaseError ? cause.code : undefined;
  switch (code) {
    case "28P01":
    case "28000":
      return `the database ${place} refused the user or the password of its URL`;
    case "3D000":
      return `the server of ${place} has no such database; create it first`;
    case "42501":
      return `the user of ${place} may not make tables there; grant it CREATE on the schema`;
    case "53300":
      return `the database ${place} has no connection left for this server`;
    default:
      return `the database ${place} cannot be opened: ${reasonOf(target, cause)}`;
  }
}

/** Both addresses of a host name fail together, and the error of both says nothing itself. */
function reasonOf(target: PostgresTarget, cause: unknown): string {
  const [first = cause] = cause instanceof AggregateError ? cause.errors : [cause];
  const message = first instanceof Error ? first.message : String(first);
  return masked(message, target).replaceAll("\n", " ");
}
