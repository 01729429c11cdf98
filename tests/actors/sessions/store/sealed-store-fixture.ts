import { randomBytes } from 'node:crypto';
import { credentialCiphers } from '../../../../actors/sessions/credential-cipher.ts';
import { answerStoreRequest } from '../../../../actors/sessions/main-thread/credential-store.ts';
import type { StoreAnswer } from '../../../../actors/sessions/worker-protocol.ts';
import { SealedCache } from '../../../../actors/sessions/worker-thread/store/sealed-cache.ts';
import { SealedStore } from '../../../../actors/sessions/worker-thread/store/sealed-store.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { newShop } from '../conformance-network.ts';
import { MemoryStore } from '../memory-store.ts';

/** Returns the store of a shop's only session. `life.goesOn` says whether it still is the only one. */
export function sealedStore(cacheBytes = 1_000_000) {
  const store = new MemoryStore();
  const clock = new FakeClock();
  const failures: string[] = [];
  const asked: string[] = [];
  const answers: StoreAnswer[] = [];
  const life = { goesOn: true };
  const shop = newShop();
  const cache = new SealedCache(cacheBytes);
  const keys = [randomBytes(32)];
  /** Opens the store like the shop's next session. */
  const open = (onUsed: (field: string) => void = () => undefined): SealedStore =>
    new SealedStore({
      onUsed,
      shop,
      ciphers: credentialCiphers(keys),
      cache,
      ask: async (address, request) => {
        asked.push(request.kind === 'read' ? `read ${request.fields.join()}` : request.kind);
        const answer = await answerStoreRequest(
          { store, clock, goesOn: () => life.goesOn },
          address,
          request,
        );
        answers.push(answer);
        return answer;
      },
      after: (delayMs, act) => clock.after(delayMs, act),
      onFailure: (error) => failures.push(error.message),
    });
  return { store, sealed: open(), open, failures, clock, life, asked, answers, keys };
}

/** Returns read values as text. */
export const text = (values: readonly (Buffer | undefined)[]): (string | undefined)[] =>
  values.map((value) => value?.toString());

/** Returns the fields of a write. */
export const fields = (entries: Record<string, string | undefined>): Map<string, Buffer | undefined> =>
  new Map(
    Object.entries(entries).map(([field, value]) => [
      field,
      value === undefined ? value : Buffer.from(value),
    ]),
  );
