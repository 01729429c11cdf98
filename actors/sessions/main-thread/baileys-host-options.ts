import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Store } from '../../../runtime/store.ts';
import type { SessionListener } from '../session-host.ts';
import type { SessionTiming } from '../session-timing.ts';
import type { ClientVersion, MediaAccess } from '../worker-protocol.ts';
import type { WorkerSupervision } from './worker-pool.ts';

export interface BaileysHostOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called with every event, never from within a call to the host. */
  readonly listener: SessionListener;
  /** 32 bytes each. The first seals, all open. */
  readonly credentialsKeys: readonly Buffer[];
  readonly socketUrl: string;
  /** The name that phones show of a device linked by QR code. */
  readonly deviceName: string;
  /** The simulator's root key. Refused unless the socket is on loopback. */
  readonly noiseRootKey?: Buffer | undefined;
  /** Certificate (PEM) of the simulator's media host. */
  readonly mediaCa?: string | undefined;
  /** Loopback is refused unless the socket is on loopback. */
  readonly media: MediaAccess;
  /** The version that clients send. By default, their own. */
  readonly clientVersion?: ClientVersion | undefined;
  /**
   * Reads the last number of the version to send from the network's page. Once it is known, that version is used
   * instead of `clientVersion`.
   */
  readonly askRevision?: ((signal: AbortSignal) => Promise<number>) | undefined;
  /** Worker threads. */
  readonly workers: number;
  readonly timing?: Partial<SessionTiming> | undefined;
  readonly supervision?: Partial<WorkerSupervision> | undefined;
}
