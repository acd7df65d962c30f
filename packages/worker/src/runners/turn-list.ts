/**
 * Gathers what one side says to the other in one turn and hands it over as one list, before anything
 * else happens: many messages cost one crossing.
 *
 * @returns Adds a message to the list of this turn.
 */
export function turnList<Message>(send: (messages: Message[]) => void): (message: Message) => void {
  let waiting: Message[] = [];
  return (message) => {
    if (waiting.push(message) > 1) return;
    queueMicrotask(() => {
      const messages = waiting;
      waiting = [];
      send(messages);
    });
  };
}
