import { setTimeout as delay } from 'node:timers/promises';
import { HttpConnection } from './http-connection.ts';
import { requestBytes } from './request-bytes.ts';

/** One call of the set-up, which is not measured. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body?: object;
}

/**
 * Makes calls over `connections` connections, and returns the `data` of each, in order. A call that was refused
 * OVERLOADED did nothing and is repeated after its `Retry-After`. Rejects at the first that is refused for any other
 * reason: later results would measure refusals.
 */
export async function callAll(
  port: number,
  calls: readonly Call[],
  options: { readonly connections?: number; readonly onDone?: (done: number) => void } = {},
): Promise<unknown[]> {
  const { connections = 64, onDone } = options;
  const answers = new Array<unknown>(calls.length);
  let next = 0;
  const work = async (): Promise<void> => {
    let fail: (error: Error) => void = () => undefined;
    const connection = await HttpConnection.open(port, (error) => fail(error));
    for (let index = next++; index < calls.length; index = next++) {
      const call = calls[index] as Call;
      const callOnce = () =>
        new Promise<Answered>((resolve, reject) => {
          fail = reject;
          connection.send(requestBytes(call), (status, text, bodyAt) =>
            resolve({ status, body: Buffer.from(text.slice(bodyAt), 'latin1').toString('utf8') }),
          );
        });
      answers[index] = await patiently(call, callOnce);
      onDone?.(index + 1);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: Math.min(connections, calls.length) }, work));
  return answers;
}

interface Answered {
  readonly status: number;
  readonly body: string;
}

async function patiently({ method, path }: Call, callOnce: () => Promise<Answered>): Promise<unknown> {
  for (;;) {
    const { status, body } = await callOnce();
    const { data, error } = JSON.parse(body) as {
      readonly data: unknown;
      readonly error?: { readonly code: string; readonly retryAfter?: number };
    };
    if (status < 300) return data;
    if (error?.code !== 'OVERLOADED') throw new Error(`${method} ${path} was answered ${status}: ${body}`);
    await delay((error.retryAfter ?? 1) * 1_000);
  }
}
