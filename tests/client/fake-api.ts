import type { ClientOptions } from '../../client/src/client-options.ts';
import { type MessagingClient, messagingClient } from '../../client/src/messaging-client.ts';
import { FakeClock } from '../testbed/fake-clock.ts';

/** A call as the service would see it. */
export interface SeenCall {
  readonly atMs: number;
  readonly method: string;
  /** With the base address. */
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
}

/** How the service answers: a reply, or what `fetch` would throw. */
export type Answering = (call: SeenCall) => Response | Promise<Response>;

/** A client on a fake clock, whose calls a test answers. */
export interface FakeApi {
  readonly api: MessagingClient;
  readonly clock: FakeClock;
  readonly calls: readonly SeenCall[];
  /** Milliseconds from each call to the next. */
  gaps(): number[];
  /** Timers of the client that wait. */
  timers(): number;
}

export const BASE = 'https://api.example/api/v1';
export const KEY = 'tm_live_secret';

/** Makes one. `random` is 0.5 by default, and ids count up. */
export function fakeApi(answering: Answering, options: Partial<ClientOptions> = {}): FakeApi {
  const clock = new FakeClock();
  const calls: SeenCall[] = [];
  const timers = new Set<object>();
  let ids = 0;
  const api = messagingClient({
    baseUrl: BASE,
    apiKey: KEY,
    clock: {
      monotonicMs: () => clock.monotonicMs(),
      after(delayMs, action) {
        const timer = clock.after(delayMs, () => {
          timers.delete(timer);
          action();
        });
        timers.add(timer);
        return {
          cancel() {
            timers.delete(timer);
            timer.cancel();
          },
        };
      },
    },
    random: () => 0.5,
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
    fetch: async (input, init = {}) => {
      const { body, signal } = init;
      const call: SeenCall = {
        atMs: clock.monotonicMs(),
        method: init.method ?? 'GET',
        url: new URL(String(input)),
        headers: new Headers(init.headers),
        body: typeof body === 'string' ? JSON.parse(body) : undefined,
        signal: signal ?? new AbortController().signal,
      };
      calls.push(call);
      return answering(call);
    },
    ...options,
  });
  return {
    api,
    clock,
    calls,
    timers: () => timers.size,
    gaps: () => calls.slice(1).map(({ atMs }, index) => atMs - (calls[index]?.atMs ?? 0)),
  };
}

/** A success. */
export function ok(data: unknown, status = 200): Response {
  return Response.json({ success: true, data }, { status, headers: { 'x-request-id': 'theirs' } });
}

/** A refusal. */
export function refused(status: number, code: string, details: object = {}): Response {
  const error = { code, message: `it is ${code}`, ...details };
  return Response.json({ success: false, error }, { status, headers: { 'x-request-id': 'theirs' } });
}

/** Fails like `fetch` without an answer. */
export function cutOff(): never {
  throw new TypeError('fetch failed');
}

/** A call that is never answered, and ends when it is aborted. */
export function silent({ signal }: SeenCall): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Answers one after the other, the last again and again. */
export function inTurn(...answers: readonly Answering[]): Answering {
  let next = 0;
  return (call) => {
    const answer = answers[Math.min(next, answers.length - 1)];
    next += 1;
    return answer === undefined ? cutOff() : answer(call);
  };
}
