/**
 * Gathers what one side says to the other in one turn and hands it over as one list, before anything
 * else happens: many messages cost one crossing.
 */
export class TurnList<Message> {
  readonly #send: (messages: Message[]) => void;
  #waiting: Message[] = [];

  constructor(send: (messages: Message[]) => void) {
    this.#send = send;
  }

  add(message: Message): void {
    if (this.#waiting.push(message) > 1) return;
    queueMicrotask(() => {
      const messages = this.#waiting;
      this.#waiting = [];
      this.#send(messages);
    });
  }
}
