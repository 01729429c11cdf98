import type { SessionHost, SessionListener } from '../../../actors/sessions/session-host.ts';
import type { Store } from '../../../runtime/store.ts';

/** A replacement for the actors of a host's shops. */
export interface ReleasingActor {
  readonly listener: SessionListener;
  /** If false, a prepared message is not transmitted. */
  releases: boolean;
}

/** Passes a host's events on. Like an actor, it transmits a prepared message once the message's writes are stored. */
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
