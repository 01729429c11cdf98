import type { SessionHost, SessionListener } from '../../../actors/sessions/session-host.ts';
import type { Store } from '../../../runtime/store.ts';

/** A replacement for the shop's actor behind a host. */
export interface ReleasingActor {
  readonly listener: SessionListener;
  /** False: what is prepared stays so. */
  releases: boolean;
}

/** Passes a host's events on, and lets what is prepared leave as an actor does: once its writes stand in the store. */
export function releasingActor(
  next: SessionListener,
  parts: { readonly host: () => SessionHost; readonly store?: Pick<Store, 'commit'> },
): ReleasingActor {
  const actor: ReleasingActor = {
    releases: true,
    listener(shop, event) {
      next(shop, event);
      if (event.type !== 'session.prepared' || !actor.releases) return;
      const stored = parts.store?.commit(shop.shard, event.writes) ?? Promise.resolve();
      stored.then(
        () => parts.host().order(shop, { type: 'transmit', messageId: event.messageId }),
        () => undefined,
      );
    },
  };
  return actor;
}
