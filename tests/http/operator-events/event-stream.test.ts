/** The stream of events that an operator reads: its place, its sign of life, and what becomes of a reader that lags. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplyStream } from '../../../http/contract/exchange.ts';
import { EventStream } from '../../../http/operator-events/event-stream.ts';
import type { OperatorEvent } from '../../../http/operator-events/operator-event.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';

function openStream() {
  const clock = new FakeClock();
  const listeners = new Set<(event: OperatorEvent) => void>();
  let watchers = 0;
  const events = new EventStream(
    {
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      watch() {
        watchers += 1;
        return () => {
          watchers -= 1;
        };
      },
      silentNodes: () => [],
    },
    { clock, epoch: 'here' },
  );
  const emit = (name: string): void => {
    const event: OperatorEvent = {
      type: 'tenant',
      at: new Date(clock.wallMs()).toISOString(),
      data: { tenantId: name },
    };
    for (const listener of listeners) listener(event);
  };
  return { clock, events, emit, watchers: () => watchers };
}

/** A reader of a stream. It takes nothing while `bufferedBytes` is set. */
class Reader implements ReplyStream {
  received = '';
  ended = false;
  buffered = 0;
  readonly #closed: (() => void)[] = [];

  waitUntilDrained(): Promise<void> {
    return Promise.resolve();
  }

  write(text: string): boolean {
    this.received += text;
    return true;
  }
  end(): void {
    this.ended = true;
    for (const callback of this.#closed.splice(0)) callback();
  }
  drop(): void {
    this.end();
  }
  bufferedBytes(): number {
    return this.buffered;
  }
  onClose(callback: () => void): void {
    this.#closed.push(callback);
  }

  /** The last id it saw. */
  get place(): string {
    return [...this.received.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? '';
  }
}

function read(events: ReturnType<typeof openStream>['events'], lastEventId = ''): Reader {
  const reader = new Reader();
  events.open(lastEventId).stream?.(reader);
  return reader;
}

test('a sign of life every five seconds, until the reader is gone', async () => {
  const { clock, events, watchers } = openStream();
  const reader = read(events);
  await clock.advance(11_000);
  assert.equal(reader.received.match(/still here/g)?.length, 2);
  assert.equal(watchers(), 1);
  reader.end();
  await clock.advance(11_000);
  assert.equal(reader.received.match(/still here/g)?.length, 2);
  assert.equal(watchers(), 0);
});

test('a reader that lags too far is disconnected; the others continue', () => {
  const { events, emit } = openStream();
  const [lags, reads] = [read(events), read(events)];
  lags.buffered = 2 * 1_048_576;
  emit('one');
  assert.deepEqual([lags.ended, reads.ended], [true, false]);
  assert.match(reads.received, /"tenantId":"one"/);
});

test('a reader that returns catches up, and gets the number of events that are gone', () => {
  const { events, emit } = openStream();
  const first = read(events);
  emit('seen');
  first.end();
  for (let index = 1; index <= 1_300; index += 1) emit(`event ${index}`);
  const again = read(events, first.place).received;
  assert.doesNotMatch(again, /"tenantId":"event 300"/);
  assert.match(again, /"tenantId":"event 301"/);
  assert.match(again, /^event: missed\ndata: .*"count":300/m);
  assert.doesNotMatch(read(events, read(events).place).received, /missed/);
});

test('close ends every reader', () => {
  const { events, watchers } = openStream();
  const readers = [read(events), read(events)];
  events.close();
  assert.deepEqual(
    readers.map(({ ended }) => ended),
    [true, true],
  );
  assert.equal(watchers(), 0);
});

test('a stream that is opened after close ends at once, and no node is polled for it', () => {
  const { events, watchers } = openStream();
  events.close();
  const reader = read(events);
  assert.match(reader.received, /^retry: 1000$/m);
  assert.deepEqual([reader.ended, watchers()], [true, 0]);
});
