/** What a test has started so far, to be stopped together: at its end, or where the rest does not start. */
export interface StartedParts {
  /** Notes how a part that runs now is stopped. */
  add(stop: () => unknown): void;
  /** Stops all parts one after the other, the last first, also where one cannot be stopped; throws then. */
  stop(): Promise<void>;
}

/**
 * Starts parts that only make sense together. Where one of them fails those before it are stopped: a server that is
 * left keeps the test's process, which then says nothing until its time is up.
 */
export async function startParts<Whole>(start: (parts: StartedParts) => Promise<Whole>): Promise<Whole> {
  const stops: (() => unknown)[] = [];
  const parts: StartedParts = {
    add: (stop) => void stops.push(stop),
    async stop() {
      const failures: unknown[] = [];
      for (const stop of stops.splice(0).reverse()) {
        try {
          await stop();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
  try {
    return await start(parts);
  } catch (error) {
    // Why it did not start says more than why it did not stop.
    await parts.stop().catch(() => undefined);
    throw error;
  }
}
