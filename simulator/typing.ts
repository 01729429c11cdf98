/** Who was seen composing to whom since their last message there. Held in memory: presence is not stored. */
export class Typing {
  readonly #composing = new Set<string>();

  /** The sender is composing in the chat: a number's digits or a group's id. */
  seen(sender: string, chat: string): void {
    this.#composing.add(`${sender} ${chat}`);
  }

  /** Whether the sender was seen composing since its last message. True once: the call clears it. */
  take(sender: string, chat: string): boolean {
    return this.#composing.delete(`${sender} ${chat}`);
  }
}
