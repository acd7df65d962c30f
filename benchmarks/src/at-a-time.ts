/** Calls for every item, so many at a time, and gives the answers in their order. */
export async function atATime<Item, Answer>(
  limit: number,
  items: Iterable<Item>,
  call: (item: Item, index: number) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const queue = [...items].entries();
  const caller = async () => {
    // One iterator for all: each takes what is next.
    for (const [index, item] of queue) answers[index] = await call(item, index);
  };
  await Promise.all(Array.from({ length: limit }, caller));
  return answers;
}
