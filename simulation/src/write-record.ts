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
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  checkpoints(
    { session }: SessionRef,
    items: readonly CheckpointItem[],
    answers: readonly CheckpointAnswer[],
  ): void {
    const at = this.#world.now;
    for (const [i, { execution_id, generation, base_seq, events }] of items.entries()) {
      const accepted = answers[i] !== undefined && !("error" in answers[i]);
      const times = events.map(({ time }) => time);
      const written = { base_seq, count: events.length, times };
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
