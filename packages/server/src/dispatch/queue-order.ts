/** A place in the order of DSP-4, but for fairness. */
export interface Place {
  readonly priority: number;
  readonly queued_at: number;
  readonly execution_id: string;
}

export function compareQueued(a: Place, b: Place): number {
  return (
    b.priority - a.priority ||
    a.queued_at - b.queued_at ||
    (a.execution_id < b.execution_id ? -1 : a.execution_id > b.execution_id ? 1 : 0)
  );
}
