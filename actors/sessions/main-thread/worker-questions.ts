import type { Clock } from '../../../runtime/clock.ts';

/** A question without an answer so far. */
interface OpenQuestion {
  readonly worker: number;
  readonly resolve: (answer: unknown) => void;
}

/** Questions to session workers. Each gets at most one answer. */
export class WorkerQuestions {
  readonly #clock: Clock;
  readonly #open = new Map<number, OpenQuestion>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves with the worker's answer. Undefined if `post` does not reach it, it exits before, or no answer comes
   * within `withinMs`. By default the time is not limited.
   */
  async ask<Answer>(
    worker: number | undefined,
    post: (questionId: number) => boolean,
    withinMs?: number,
  ): Promise<Answer | undefined> {
    this.#count += 1;
    const questionId = this.#count;
    if (worker === undefined || !post(questionId)) return undefined;
    return new Promise((resolve) => {
      const timeout = withinMs && this.#clock.after(withinMs, () => this.answer(questionId, undefined));
      this.#open.set(questionId, {
        worker,
        resolve: (answer) => {
          if (timeout) timeout.cancel();
          resolve(answer as Answer | undefined);
        },
      });
    });
  }

  answer(questionId: number, answer: unknown): void {
    this.#open.get(questionId)?.resolve(answer);
    this.#open.delete(questionId);
  }

  onWorkerLost(worker: number): void {
    for (const [questionId, openQuestion] of this.#open)
      if (openQuestion.worker === worker) this.answer(questionId, undefined);
  }
}
