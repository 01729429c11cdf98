import { setTimeout as sleep } from 'node:timers/promises';
import { callAgain } from './api.ts';

/** Messages leave 6 to 20 s apart, so to ask more often shows nothing more and spends calls. */
const ASK_EVERY_MS = 3_000;

/** Asks for a message until its status is final, says so, and resolves with whether it was sent. */
export async function followMessage(id: string): Promise<boolean> {
  for (;;) {
    const { data } = await callAgain<{ status: string; reason: string | null }>('GET', `/messages/${id}`);
    if (data.status !== 'queued' && data.status !== 'sending') {
      console.log(data.reason === null ? data.status : `${data.status} ${data.reason}`);
      return data.status === 'sent';
    }
    await sleep(ASK_EVERY_MS);
  }
}
