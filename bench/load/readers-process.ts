/** Readers of events in a process of their own: a plan as JSON on standard input, their result on standard output. */

import { readFileSync } from 'node:fs';
import { HttpConnection } from './http-connection.ts';
import type { ReadersPlan, ReadersResult } from './readers-plan.ts';
import { requestBytes } from './request-bytes.ts';

const plan = JSON.parse(readFileSync(0, 'utf8')) as ReadersPlan;
/** One buffer for all connections: all bytes of one are read before others can come. */
const buffer = Buffer.alloc(64 * 1024);
let answers = 0;
let refusals = 0;
let ended = 0;

/**
 * One reader. It asks again and again from the position of the last answer. It asks once for a stream, and reads only
 * the head. It opens a new connection after each that is lost.
 */
class Reader {
  readonly #key: string;
  #place = '';

  constructor(key: string) {
    this.#key = key;
  }

  /** Opens a connection and asks on it until it is lost, then opens another. */
  connect(): void {
    let isLost = false;
    const lost = (): void => {
      if (isLost) return;
      isLost = true;
      ended += 1;
      setTimeout(() => this.connect(), plan.gapMs);
    };
    HttpConnection.open(plan.port, lost, buffer).then((connection) => {
      const ask = (): void => {
        if (isLost) return;
        const askedMs = performance.now();
        connection.send(this.#request(), (status, text) => {
          answers += 1;
          if (status !== 200) refusals += 1;
          if (plan.isStream && status === 200) return;
          this.#place = /"nextCursor":"(\w+)"/.exec(text)?.[1] ?? this.#place;
          setTimeout(ask, Math.max(0, askedMs + plan.gapMs - performance.now()));
        });
      };
      ask();
    }, lost);
  }

  #request(): string {
    if (plan.isStream) {
      return requestBytes({
        method: 'GET',
        path: '/api/v1/events',
        token: this.#key,
        accept: 'text/event-stream',
      });
    }
    const from = this.#place === '' ? '' : `&cursor=${this.#place}`;
    const path = `/api/v1/events?waitMs=${plan.waitMs}${from}`;
    return requestBytes({ method: 'GET', path, token: this.#key });
  }
}

for (const [index, key] of plan.keys.entries())
  setTimeout(() => new Reader(key).connect(), (index * plan.arriveMs) / plan.keys.length);
setTimeout(() => {
  const { user, system } = process.cpuUsage();
  const result: ReadersResult = { answers, refusals, ended, cpuMs: (user + system) / 1_000 };
  process.stdout.write(JSON.stringify(result), () => process.exit());
}, plan.durationMs);
