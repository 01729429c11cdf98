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
 * Makes calls, so many at a time, and answers each one's `data`, in order. Rejects at the first that is refused:
 * what follows would measure refusals.
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
      answers[index] = await new Promise((resolve, reject) => {
        fail = reject;
        connection.send(requestBytes(call), (status, text, bodyAt) => {
          const body = Buffer.from(text.slice(bodyAt), 'latin1').toString('utf8');
          if (status >= 300) reject(new Error(`${call.method} ${call.path} was answered ${status}: ${body}`));
          else resolve((JSON.parse(body) as { data: unknown }).data);
        });
      });
      onDone?.(index + 1);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: Math.min(connections, calls.length) }, work));
  return answers;
}
