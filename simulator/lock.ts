/** Runs work one piece after the other; a piece that fails does not stop the next. */
export class Lock {
  #tail: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
