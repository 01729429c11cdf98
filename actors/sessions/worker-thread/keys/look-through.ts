import { DAY_MS } from '../../../../runtime/durations.ts';
import type { SessionContext } from '../shared/session-context.ts';
import type { SealedStore } from '../store/sealed-store.ts';
import type { Credentials } from './credentials.ts';
import type { KeyUse } from './key-use.ts';

interface LookThroughOptions {
  readonly sealedStore: Pick<SealedStore, 'reseal'>;
  readonly keyUse: Pick<KeyUse, 'prune'>;
  readonly credentials: Credentials;
  /** Takes the waiting parts of the account's history, among the names of all fields. */
  readonly resumeHistory: (names: readonly string[]) => void;
}

/**
 * Seals the values of older keys again with the newest key. Takes the waiting parts of the account's history, and
 * removes unused keys. It repeats each day, until the session ends. An old account takes both threads some tens of
 * milliseconds. So the sessions of a worker do this one by one, and messages of other shops come between two accounts.
 */
export async function lookThroughKeys(context: SessionContext, options: LookThroughOptions): Promise<void> {
  context.later(DAY_MS, () => void lookThroughKeys(context, options));
  const { giveBack } = await context.environment.lookThroughs.take(context.shop.shopId);
  const limit = context.clock.after(context.timing.lookThroughMs, giveBack);
  try {
    if (context.hasEnded) return;
    const names = await options.sealedStore.reseal('credentials');
    if (context.hasEnded) return;
    options.resumeHistory(names);
    await options.keyUse.prune(names, options.credentials);
  } catch (error) {
    context.logFailure('the keys were not all gone through')(error);
  } finally {
    limit.cancel();
    giveBack();
  }
}
