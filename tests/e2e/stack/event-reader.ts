/** One event of the operators' stream. */
export interface ReadEvent {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** A reader of the operators' events. */
export interface EventReader {
  /** Waits for an event of that type that fits, among all since the reader was opened. */
  until(type: string, fits: (event: ReadEvent) => boolean): Promise<ReadEvent>;
  close(): void;
}

/** Opens the operators' events of a node. Rejects when they are refused. */
export async function openEvents(adminUrl: string, token: string): Promise<EventReader> {
  const end = new AbortController();
  const answer = await fetch(`${adminUrl}/admin/v1/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: end.signal,
  });
  if (!answer.ok || answer.body === null) throw new Error(`the events were refused: ${answer.status}`);
  const chunks = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const seenEvents: ReadEvent[] = [];
  let rest = '';
  return {
    async until(type, fits) {
      for (;;) {
        const foundEvent = seenEvents.find((event) => event.type === type && fits(event));
        if (foundEvent !== undefined) return foundEvent;
        const { done, value } = await chunks.read();
        if (done) throw new Error(`the events ended before ${type} came`);
        const blocks = (rest + value).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          const data = /^data: (.+)$/m.exec(block)?.[1];
          if (data === undefined) continue;
          const { type: name, at: _, ...facts } = JSON.parse(data) as { type: string; at: string };
          seenEvents.push({ type: name, data: facts });
        }
      }
    },
    close: () => end.abort(),
  };
}
