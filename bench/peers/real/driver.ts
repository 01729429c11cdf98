import type { SimulatorControl } from '../../../tests/testbed/simulator-control.ts';
import type { Figures } from '../../harness/bench.ts';

/** The folder for a gateway's files, and its command-line options. */
export interface Place {
  readonly directory: string;
  /** A git repository or a checkout of its source; undefined: it is fetched. */
  readonly source: string | undefined;
  readonly progress: (text: string) => void;
}

/** The names of the tables. */
export const TABLES = ['rest', 'restart', 'send', 'get', 'kills'] as const;
export type Table = (typeof TABLES)[number];

/** A gateway to the chat network that can be measured. Another one needs one file: a driver, put into `run.ts`. */
export interface Driver {
  readonly name: string;
  /** The tables in which it has a row; undefined: all. */
  readonly tables?: readonly Table[];
  /** Fetches and installs it, at its pinned version. A string: why it cannot be had here, in one sentence. */
  prepare?(place: Place): Promise<string | undefined>;
  /** Starts it with its own stores and simulator, and links so many phones. */
  start(place: Place, sessions: number): Promise<Gateway>;
}

/** One message, to a number that is on the network. */
export interface Text {
  /** The index of the linked phone that sends it, from 0. */
  readonly phone: number;
  readonly to: string;
  readonly text: string;
  /** Equal for every try of one message. */
  readonly key: string;
}

/** The result of a way of sending. */
export interface Sent {
  readonly messages: number;
  readonly perSecond: number;
  /** Further figures of this side alone. */
  readonly others?: Figures;
}

/** A way of sending, as a row of the table. */
export interface Wave {
  readonly name: string;
  /** True: it is sent by a new process, which has compiled nothing yet, as on the other sides. */
  readonly isFirstOfProcess?: boolean;
  /** Does the work that must come first and is not measured. */
  prepare?(): Promise<void>;
  /**
   * Sends `each` messages of every phone, and resolves when the gateway is done with all of them. `perSecond` is that
   * of the messages between the first tenth and the last fifth.
   */
  send(each: number): Promise<Sent>;
}

/** A gateway that runs, with its phones linked and connected. */
export interface Gateway {
  readonly network: SimulatorControl;
  /** Numbers of the linked phones, E.164. */
  readonly phones: readonly string[];
  /** Process ids; the server's is another one after a restart. */
  readonly watch: { readonly server: number; readonly redis?: number; readonly simulator: number };
  /** How long linking all phones took, from the first code asked for. */
  readonly pairAllMs: number;
  readonly waves: readonly Wave[];
  /** Undefined: it has no row in `get` and `kills`. */
  readonly calls?: Calls;
  /** Ends the server so and starts it on the same data, as soon as it has ended. */
  restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  stop(): Promise<void>;
}

/** The calls of a gateway's callers. */
export interface Calls {
  /** Returns the port and the bytes of the cheapest call that needs a key. */
  cheapestGet(): { readonly port: number; readonly bytes: string };
  /**
   * One try of one message. True: it was taken on, or handed over. False: it may be asked again, with the same key.
   * Rejects when the server is away.
   */
  send(message: Text): Promise<boolean>;
  /** Resolves when nothing that was taken on waits any more; how many messages ended as failed. */
  settled(): Promise<number>;
}
