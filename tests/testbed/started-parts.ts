/** The parts that a test has started. They are stopped together: at its end, or if the rest does not start. */
export interface StartedParts {
  /** Notes how a part that runs now is stopped. */
  add(stop: () => unknown): void;
  /** Stops all parts one after the other, the last first, also where one cannot be stopped; throws then. */
  stop(): Promise<void>;
}

/**
 * Starts parts that only make sense together. If one of them fails, those before it are stopped. A server that is left
 * running would keep the test's process silent until its timeout.
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
    // The failure of the start is more useful than that of the stop.
    await parts.stop().catch(() => undefined);
    throw error;
  }
}
