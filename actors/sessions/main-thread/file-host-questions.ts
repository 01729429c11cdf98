import type { Clock } from '../../../runtime/clock.ts';
import type { FileHosts } from '../../inbound-content.ts';

/** How long a session may take to report its file hosts, in milliseconds. It is less than a forwarded call may take. */
const ANSWER_MS = 5_000;

/** Asks session workers for the network's file hosts. */
export class FileHostQuestions {
  readonly #clock: Clock;
  readonly #asked = new Map<number, (hosts: FileHosts | undefined) => void>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with the reply, or undefined if `post` reaches no session or no reply comes in time. */
  async ask(post: (questionId: number) => boolean): Promise<FileHosts | undefined> {
    this.#count += 1;
    const questionId = this.#count;
    if (!post(questionId)) return undefined;
    return new Promise((resolve) => {
      const timeout = this.#clock.after(ANSWER_MS, () => this.answered(questionId, undefined));
      this.#asked.set(questionId, (hosts) => {
        timeout.cancel();
        resolve(hosts);
      });
    });
  }

  answered(questionId: number, hosts: FileHosts | undefined): void {
    const resolve = this.#asked.get(questionId);
    this.#asked.delete(questionId);
    resolve?.(hosts);
  }
}
