/** A session worker that does what the shop's id says, to test how the pool handles it. */
import { getHeapSpaceStatistics } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import type { WorkerCommand, WorkerMessage } from '../../../../actors/sessions/worker-protocol.ts';

const tell = (message: WorkerMessage): void => parentPort?.postMessage(message);

function obey(word: string): void {
  tell({ kind: 'closed', shopId: `heard ${word}`, generation: 0 });
  if (word === 'throw') throw new Error('told to throw');
  if (word === 'exit') process.exit(3);
  if (word === 'hang') for (;;);
  if (word === 'young') {
    for (let round = 0; round < 20; round += 1) Array.from({ length: 400_000 }, (_, index) => ({ index }));
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    tell({ kind: 'closed', shopId: `${(young?.space_size ?? 0) / 1024 / 1024} MiB`, generation: 0 });
  }
  if (word === 'eat') {
    const eaten: number[][] = [];
    for (;;) eaten.push(new Array(100_000).fill(eaten.length));
  }
}

parentPort?.on('message', (message: WorkerCommand) => {
  if (message.kind === 'ping') tell({ kind: 'pong', heapBytes: 1 });
  if (message.kind === 'stop') tell({ kind: 'stopped' });
  if (message.kind === 'close') obey(message.shopId);
});
tell({ kind: 'ready' });
