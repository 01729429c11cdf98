import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { listening } from '../../testbed/listening.ts';
import { type BusFault, published, subscribes } from './bus-line.ts';

/** The connection between one node and Redis, controlled by a test. */
export interface RedisLink {
  readonly url: string;
  /** Ends all connections and refuses new ones, until `mend`. */
  cut(): void;
  /** How many connections were refused so far. */
  refused(): number;
  /** Stops all bytes both ways without a sign, until `mend` sends everything that was kept. */
  stall(): void;
  /** Redis hears everything and its answers do not come through, on new connections too, until `mend` sends them. */
  muteAnswers(): void;
  /**
   * Redis hears nothing and what it says comes through, on new connections too, until `mend` sends the node's bytes.
   */
  muteCommands(): void;
  /** From now on this becomes of what Redis publishes to the node. `late`: it comes 700 ms later. */
  bus(fault: BusFault): void;
  /** Ends the connection on which the node listens, and each new one, until `mend`. */
  cutBus(): void;
  /** Delays the node's bytes to Redis by this number of milliseconds; 0 ends it. */
  delay(ms: number): void;
  mend(): void;
  /**
   * New connections lead to this socket; present ones stay where they are, as when an address moves to another server.
   */
  moveTo(socketPath: string): void;
  /**
   * Lets the present connections die silently. Redis' bytes are lost. The node's bytes are kept until `release`, also
   * if the node gave the connection up long before. Bytes on their way arrive, whatever happened to their sender. A
   * connection that lost bytes ends with the release. New connections pass.
   */
  hold(): void;
  /** True if this text is in the stored bytes. */
  keeps(text: string): boolean;
  /** Delivers what was kept; resolves when Redis has answered it. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/** One connection of the node and the one made for it to Redis. */
interface Line {
  readonly client: Socket;
  readonly redis: Socket;
  /** The node's bytes that Redis has not received; `undefined`: everything passes. */
  kept: Buffer[] | undefined;
  /** True if bytes of Redis are lost. The next answer would be taken for the one before, so none passes any more. */
  isDeaf: boolean;
  /** The node listens on it to what is published. */
  isBus: boolean;
  /** Pieces from Redis that come late and are not with the node yet. */
  lateAnswers: number;
}

/** The sides of a line from which no bytes are taken. */
const PAUSED = {
  whole: [],
  cut: [],
  stalled: ['client', 'redis'],
  deaf: ['redis'],
  mute: ['client'],
} as const satisfies Readonly<Record<string, readonly ('client' | 'redis')[]>>;

/** The present state of one node's lines. */
interface Behaviour {
  delayMs: number;
  bus: BusFault;
  busIsCut: boolean;
}

/** Longer than an answer of another node takes, and shorter than the node waits for it. */
const LATE_MS = 700;

/** Puts a TCP proxy before a Redis socket. */
export async function redisLink(socketPath: string): Promise<RedisLink> {
  let leadsTo = socketPath;
  const lines = new Set<Line>();
  let state: keyof typeof PAUSED = 'whole';
  let refused = 0;
  const behaviour: Behaviour = { delayMs: 0, bus: 'none', busIsCut: false };
  const sockets = (): Socket[] => [...lines].flatMap(({ client, redis }) => [client, redis]);
  const server = createServer((client) => {
    if (state === 'cut') {
      refused += 1;
      client.destroy();
      return;
    }
    const line = connectLine(client, createConnection(leadsTo), behaviour);
    lines.add(line);
    line.redis.on('close', () => lines.delete(line));
    for (const side of PAUSED[state]) line[side].pause();
  });
  const port = await listening(server);
  const end = (): void => {
    for (const socket of sockets()) socket.destroy();
  };
  const become = (next: keyof typeof PAUSED): void => {
    state = next;
    for (const socket of sockets()) socket.resume();
    for (const line of lines) for (const side of PAUSED[state]) line[side].pause();
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    cut() {
      state = 'cut';
      end();
    },
    refused: () => refused,
    stall: () => become('stalled'),
    muteAnswers: () => become('deaf'),
    muteCommands: () => become('mute'),
    bus(fault) {
      behaviour.bus = fault;
    },
    cutBus() {
      behaviour.busIsCut = true;
      for (const { client, isBus } of lines) if (isBus) client.destroy();
    },
    delay(ms) {
      behaviour.delayMs = ms;
    },
    mend() {
      behaviour.busIsCut = false;
      become('whole');
    },
    moveTo(path) {
      leadsTo = path;
    },
    hold() {
      for (const line of lines) line.kept ??= [];
    },
    keeps: (text) => [...lines].some(({ kept = [] }) => Buffer.concat(kept).includes(text)),
    async release() {
      await Promise.all([...lines].map(deliver));
    },
    async close() {
      server.close();
      end();
      await once(server, 'close');
    },
  };
}

function connectLine(client: Socket, redis: Socket, behaviour: Behaviour): Line {
  const line: Line = { client, redis, kept: undefined, isDeaf: false, isBus: false, lateAnswers: 0 };
  let late = 0;
  let lastDelayMs = 0;
  for (const socket of [client, redis]) socket.on('error', () => socket.destroy());
  client.on('data', (bytes: Buffer) => {
    line.isBus ||= subscribes(bytes);
    if (line.isBus && behaviour.busIsCut) {
      client.destroy();
    } else if (line.kept !== undefined) {
      line.kept.push(bytes);
    } else if (behaviour.delayMs === 0 && late === 0) {
      redis.write(bytes);
    } else {
      // Timers of one length come in their order; what came before must go first when the delay ends.
      late += 1;
      lastDelayMs = behaviour.delayMs || lastDelayMs;
      setTimeout(() => {
        late -= 1;
        if (!redis.destroyed) redis.write(bytes);
      }, lastDelayMs);
    }
  });
  redis.on('data', (bytes: Buffer) => {
    line.isDeaf ||= line.kept !== undefined;
    if (line.isDeaf) return;
    hear(line, line.isBus ? published(bytes, behaviour.bus) : bytes, line.isBus && behaviour.bus === 'late');
  });
  client.on('close', () => {
    if (line.kept === undefined) redis.destroy();
  });
  redis.on('close', () => client.destroy());
  return line;
}

/** Gives the node Redis' bytes. Earlier late bytes come first, since timers of one length fire in their order. */
function hear(line: Line, bytes: Buffer, late: boolean): void {
  const say = (): void => {
    if (!line.client.destroyed) line.client.write(bytes);
  };
  if (!late && line.lateAnswers === 0) {
    say();
    return;
  }
  line.lateAnswers += 1;
  setTimeout(() => {
    line.lateAnswers -= 1;
    say();
  }, LATE_MS);
}

/** Gives Redis the kept bytes. The connection ends if the node cannot receive the answer any more. */
async function deliver(line: Line): Promise<void> {
  const { client, redis, kept } = line;
  line.kept = undefined;
  if (kept === undefined || redis.destroyed) return;
  if (kept.length > 0) {
    const answered = Promise.race([once(redis, 'data'), once(redis, 'close')]);
    redis.write(Buffer.concat(kept));
    await answered;
  }
  if (client.destroyed || line.isDeaf) redis.destroy();
}
