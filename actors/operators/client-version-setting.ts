import type { Store } from '../../runtime/store.ts';
import { NAMED_VERSION_KEY, readClientVersion, SET_VERSION_KEY } from '../sessions/client-version.ts';

/** The client versions that the fleet may announce, like `2.3000.1035194821`. */
export interface ClientVersionView {
  /** The version that operators set, which takes precedence. Null if there is none. */
  readonly version: string | null;
  /** The version that the network's page last named. Null if the page was not read. */
  readonly pageVersion: string | null;
}

/** Reads the version that operators set, and the one of the network's page. */
export async function clientVersionView(store: Pick<Store, 'read'>): Promise<ClientVersionView> {
  const replies = await store.read([
    ['GET', SET_VERSION_KEY],
    ['GET', NAMED_VERSION_KEY],
  ]);
  const [version = null, pageVersion = null] = replies.map(
    (text) => readClientVersion(text)?.join('.') ?? null,
  );
  return { version, pageVersion };
}

/** Sets the version for the whole fleet, or removes the setting. Nodes follow within a minute. */
export async function setClientVersion(
  store: Pick<Store, 'read' | 'append'>,
  version: string | null,
): Promise<ClientVersionView> {
  await store.append([version === null ? ['DEL', SET_VERSION_KEY] : ['SET', SET_VERSION_KEY, version]]);
  return clientVersionView(store);
}
