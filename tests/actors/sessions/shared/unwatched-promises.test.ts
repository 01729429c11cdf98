import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { threadExecArgv } from '../../../../actors/sessions/main-thread/thread-sources.ts';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import type {
  WorkerCommand,
  WorkerMessage,
  WorkerSetup,
} from '../../../../actors/sessions/worker-protocol.ts';
import { moduleFile } from '../../../testbed/root.ts';

const SETUP: WorkerSetup = {
  socketUrl: 'ws://127.0.0.1:9',
  deviceName: 'Test',
  credentialsKeys: [Buffer.alloc(32)],
  noiseRootKey: undefined,
  mediaCa: undefined,
  media: { allowLoopback: false, deniedRanges: [], nameServers: [] },
  timing: DEFAULT_SESSION_TIMING,
};

/** Starts the thread of session workers. At its first order, other code in it rejects a promise that nobody watches. */
function startFailing(context: TestContext, reason: string): Worker {
  const entry = pathToFileURL(moduleFile('actors/sessions/worker-thread/session-worker.ts'));
  const fail = `import { parentPort } from 'node:worker_threads';
    parentPort.once('message', () => void Promise.reject(${reason}));`;
  const thread = new Worker(entry, {
    workerData: SETUP,
    execArgv: [
      ...(threadExecArgv(entry) ?? []),
      '--import',
      `data:text/javascript,${encodeURIComponent(fail)}`,
    ],
  });
  context.after(() => thread.terminate());
  return thread;
}

async function nextOf(thread: Worker, kind: WorkerMessage['kind']): Promise<WorkerMessage> {
  for (;;) {
    const [message] = (await once(thread, 'message')) as [WorkerMessage];
    if (message.kind === kind) return message;
  }
}

test('a promise that the client leaves unwatched is logged without the message of its error', async (context) => {
  const thread = startFailing(context, "new RangeError('Dear Ms Miller, your result is positive')");
  await nextOf(thread, 'ready');
  const logged = nextOf(thread, 'log');
  thread.postMessage({ kind: 'ping' } satisfies WorkerCommand);
  const fields = { error: 'RangeError', cause: '' };
  assert.deepEqual(await logged, {
    kind: 'log',
    level: 'warn',
    fields,
    message: 'a failure was left unhandled',
  });
});
