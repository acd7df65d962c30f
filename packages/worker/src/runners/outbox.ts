/** Gathers what is said in one go and hands it over as one list, before anything else happens. */
export class Outbox<Message> {
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
