import type { Build } from './build.ts';
import type { Fleet, FleetSize } from './fleet.ts';

/** Redis' setting of that name. With `always`, Redis answers a write after it is on disk. */
export type Appendfsync = 'always' | 'everysec';

/** A running side: the ports and processes of its nodes, and what a bench may ask of it. */
export interface RunningSide {
  readonly ports: readonly number[];
  /** By name: `server` (several are `server`, `server2` …) and, if there is one, `redis` and its `replica`. */
  readonly watch: Readonly<Record<string, number>>;
  readonly fleet: Fleet;
  /** The socket of its Redis; undefined without one. */
  readonly redisPath: string | undefined;
  /** Operators' access to the service's first node; the peers have no operators. */
  readonly admin: OperatorAccess | undefined;
  /** From the start of the first node until it took requests. */
  readonly startMs: number;
  /** Ends the nodes and starts them again on the same Redis. Resolves with their time from start to ready. */
  restart(): Promise<number>;
  /** Reads the figures that the service's first node reports of itself. */
  look(): Promise<Look>;
  /**
   * Returns how long the event loop of the service's first node was blocked since the last call; the first call starts
   * the count.
   */
  holdUps(): Promise<HoldUps>;
  stop(): Promise<void>;
}

/** Internal figures of a node of the service, which it reports of itself. */
export interface Look {
  /** JavaScript heap in use. With `--expose-gc`, after a collection. */
  readonly heapBytes: number;
  /** When sessions came up since its start, by the wall clock. */
  readonly connectedAtMs: readonly number[];
}

/** The operator's token. */
export interface OperatorAccess {
  readonly port: number;
  readonly token: string;
}

/** How long an event loop was blocked in one piece, and how much of that was garbage collection. */
export interface HoldUps {
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly collections: number;
  readonly collectingMs: number;
  readonly longestCollectionMs: number;
}

export interface SideOptions {
  readonly fleet: FleetSize;
  readonly appendfsync?: Appendfsync;
  /** The service's Redis has a replica, which follows before the first node starts. */
  readonly isReplicated?: boolean;
  /** The build of the service, by default of this checkout. */
  readonly build?: Build;
  /** Nodes of the service; default 1. */
  readonly nodes?: number;
  /** Flags for the server's node, such as `--cpu-prof`. */
  readonly nodeFlags?: readonly string[];
  /** Further settings of the service. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Called with the progress of the set-up. */
  readonly progress?: (text: string) => void;
  readonly directory: string;
}
