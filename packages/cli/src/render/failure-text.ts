import { type Failure, placeOf } from "@engine/contract";

type Shown = Pick<Failure, "type" | "message"> & Partial<Failure>;

/** A failure for people: what happened, why, where. The lines of a message stay lines. */
export function failureLines(failure: Shown): string[] {
  const lines = `${failure.type}: ${failure.message}`.split(/\r?\n/);
  lines.push(...placeLine(failure));
  for (let cause = failure.cause; cause; cause = cause.cause) {
    lines.push(...`caused by ${cause.type}: ${cause.message}`.split(/\r?\n/), ...placeLine(cause));
  }
  const origin = deepest(failure);
  if (origin.task_call_id) {
    const { attempts = 1 } = origin;
    lines.push(
      `in call ${origin.task_call_id}${attempts > 1 ? `, after ${attempts} attempts` : ""}`,
    );
  }
  return lines;
}

/** The line of the author's code, where it is known. */
function placeLine({ details = null }: Shown): string[] {
  const at = placeOf({ details });
  return at === undefined ? [] : [`in ${at}`];
}

/** The innermost cause that names its call: that is where it happened. */
function deepest(failure: Shown): Shown {
  let found = failure;
  for (let cause = failure.cause; cause; cause = cause.cause) {
    if (cause.task_call_id) found = cause;
  }
  return found;
}
