export type JobReply<Answer> = { readonly answer: Answer } | { readonly error: unknown };

/** What the program of a `JobProcess` calls: answers its jobs. */
export function serveJobs<Job, Answer>(answer: (job: Job) => Answer | Promise<Answer>): void {
  const send = process.send?.bind(process);
  if (!send) throw new Error("this program is started by the server");
  process.on("message", ({ job }: { job: Job }) => {
    void replyTo(job, answer).then((reply) => send(reply, undefined, undefined, () => {}));
  });
  process.once("disconnect", () => process.exit());
  // Ctrl-C reaches everything in the terminal; the server decides when this ends.
  process.on("SIGINT", () => {});
}

async function replyTo<Job, Answer>(
  job: Job,
  answer: (job: Job) => Answer | Promise<Answer>,
): Promise<JobReply<Answer>> {
  try {
    return { answer: await answer(job) };
  } catch (error) {
    return { error };
  }
}
