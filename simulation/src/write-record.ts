import type {
  CheckpointAnswer,
  CheckpointItem,
  ReleaseAnswer,
  ReleaseItem,
  SessionRef,
} from "@engine/contract";
import type { WorkerWrite } from "./evidence.ts";
import type { World } from "./world.ts";

/** What workers wrote and what servers said to it, whether or not that arrived. */
export class WriteRecord {
  readonly writes: WorkerWrite[] = [];
  readonly #sent = new Map<string, number>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** A worker hands checkpoints to the network. */
  sends(items: readonly CheckpointItem[]): void {
    for (const item of items) {
      const place = placeOf(item);
      if (!this.#sent.has(place)) this.#sent.set(place, this.#world.now);
    }
  }

  checkpoints(
    { session }: SessionRef,
    items: readonly CheckpointItem[],
    answers: readonly CheckpointAnswer[],
  ): void {
    const at = this.#world.now;
    for (const [i, item] of items.entries()) {
      const { execution_id, generation, base_seq, events } = item;
      const accepted = answers[i] !== undefined && !("error" in answers[i]);
      const sent_at = this.#sent.get(placeOf(item)) ?? at;
      const written = { sent_at, base_seq, count: events.length };
      this.writes.push({
        at,
        session,
        execution_id,
        generation,
        accepted,
        kind: "checkpoint",
        ...written,
      });
    }
  }

  releases(
    { session }: SessionRef,
    items: readonly ReleaseItem[],
    answers: readonly ReleaseAnswer[],
  ): void {
    const at = this.#world.now;
    for (const [i, { execution_id, generation }] of items.entries()) {
      const accepted = answers[i] !== undefined && !("error" in answers[i]);
      this.writes.push({ at, session, execution_id, generation, accepted, kind: "release" });
    }
  }

  async progress<Answer>(
    { session }: SessionRef,
    of: { readonly execution_id: string; readonly generation: number },
    publish: () => Promise<Answer>,
  ): Promise<Answer> {
    const write = (accepted: boolean) =>
      void this.writes.push({ at: this.#world.now, session, ...of, accepted, kind: "progress" });
    try {
      const answer = await publish();
      write(true);
      return answer;
    } catch (error) {
      write(false);
      throw error;
    }
  }
}

/** What a worker sends again has the same. */
function placeOf({ execution_id, generation, base_seq, events }: CheckpointItem): string {
  return `${execution_id} ${generation} ${base_seq} ${events.length}`;
}
