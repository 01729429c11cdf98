/** One block of a stream (the HTML standard: Server-sent events). */
export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly data: string | undefined;
  /** How long to stay away once the connection is lost, in milliseconds. */
  readonly retryMs: number | undefined;
}

type Chunk =
  | { readonly done: false; readonly value: Uint8Array }
  | { readonly done: true; readonly value?: undefined };

/** The blocks of a stream, each once all of it is there; one that the end cuts short is left out, as are comments. */
export async function* serverSentEvents(
  read: () => Promise<Chunk>,
): AsyncGenerator<ServerSentEvent, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  let lines: string[] = [];
  for (;;) {
    const { done, value } = await read();
    if (done) return;
    const whole = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = whole.pop() ?? '';
    for (const line of whole.map((text) => text.replace(/\r$/, ''))) {
      if (line !== '') {
        lines.push(line);
        continue;
      }
      const block = blockOf(lines);
      lines = [];
      if (Object.values(block).some((field) => field !== undefined)) yield block;
    }
  }
}

function blockOf(lines: readonly string[]): ServerSentEvent {
  const valuesOf = (name: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const data = valuesOf('data');
  const retry = valuesOf('retry').at(-1);
  return {
    id: valuesOf('id').at(-1),
    type: valuesOf('event').at(-1),
    data: data.length === 0 ? undefined : data.join('\n'),
    retryMs: retry !== undefined && /^\d{1,9}$/.test(retry) ? Number(retry) : undefined,
  };
}
