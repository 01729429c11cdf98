/** The most retries of a phone for one message (Baileys `maxMsgRetryCount`, whatsmeow `retry.go`). */
const MOST_RETRIES = 5;

/** How often each handset asked for a message again. Held in memory. */
export class RetryCounts {
  readonly #counts = new Map<string, number>();

  /** Returns the number of a handset's next retry for one message. Undefined if it stopped. */
  next(phone: string, sender: string, messageId: string): number | undefined {
    const name = `${phone} ${sender} ${messageId}`;
    const count = (this.#counts.get(name) ?? 0) + 1;
    if (count > MOST_RETRIES) return undefined;
    this.#counts.set(name, count);
    return count;
  }
}
