import { Command, Redis } from 'ioredis';
import type { LuaScript } from '../lua-script.ts';
import type { RedisArgument } from '../store.ts';
import { connect, type RedisClient } from './redis-client.ts';

/** The encoding of values in a reply. */
export type ReplyEncoding = 'utf8' | null;

/**
 * Arguments of a script. They are flat already. ioredis flattens every list, and V8 then walks a script's hundreds of
 * arguments on its slow path: 1.5 µs a message.
 */
class ScriptArguments extends Array<RedisArgument> {
  override flat(): never[] {
    return this as unknown as never[];
  }
}

function scriptArguments(
  script: string,
  keys: readonly string[],
  args: readonly RedisArgument[],
): RedisArgument[] {
  // Allocated with its full length: a growing array leaves garbage of twice its size.
  const allArguments = new ScriptArguments(2 + keys.length + args.length);
  allArguments[0] = script;
  allArguments[1] = keys.length;
  for (let index = 0; index < keys.length; index += 1) allArguments[2 + index] = keys[index] as string;
  const offset = 2 + keys.length;
  for (let index = 0; index < args.length; index += 1)
    allArguments[offset + index] = args[index] as RedisArgument;
  return allArguments;
}

/** Texts between arguments, for lengths that are met often. */
const HEADS = Array.from({ length: 2_048 }, (_, bytes) => head(bytes));

/** The bytes before an argument of that length (RESP), with the end of the one before. */
function head(bytes: number): string {
  return `\r\n$${bytes}\r\n`;
}

/** Most bytes before an argument. */
const HEAD_BYTES = 16;

/**
 * A script's call, which has hundreds of arguments. It is written as bytes, because a text of that many pieces takes
 * three times its length in memory until it is sent.
 */
class ScriptCommand extends Command {
  override toWritable(socket: object): string | Buffer {
    const start = `*${this.args.length + 1}\r\n$${this.name.length}\r\n${this.name}`;
    const lengths: number[] = new Array(this.args.length);
    let room = start.length + HEAD_BYTES;
    for (let index = 0; index < lengths.length; index += 1) {
      const argument = this.args[index];
      if (typeof argument !== 'string') return super.toWritable(socket);
      const bytes = Buffer.byteLength(argument);
      lengths[index] = bytes;
      room += HEAD_BYTES + bytes;
    }
    const buffer = Buffer.allocUnsafe(room);
    let end = buffer.write(start, 'latin1');
    for (let index = 0; index < lengths.length; index += 1) {
      const bytes = lengths[index] as number;
      end += buffer.write(HEADS[bytes] ?? head(bytes), end, 'latin1');
      end += buffer.write(this.args[index] as string, end);
    }
    end += buffer.write('\r\n', end, 'latin1');
    return buffer.subarray(0, end);
  }
}

/**
 * One connection to Redis. Commands sent within one tick of the event loop leave in order, and outside a cluster in one
 * write. Rejections are the library's own errors; see `failureOf`.
 */
export class RedisConnection {
  readonly client: RedisClient;
  #isCorked = false;

  constructor(client: RedisClient) {
    this.client = client;
    // Without a listener the library prints every failed reconnect. Commands fail anyway, with the reason.
    client.on('error', () => undefined);
  }

  connect(): Promise<void> {
    return connect(this.client);
  }

  /** True when a command can be sent now. */
  get isReady(): boolean {
    return this.client.status === 'ready';
  }

  send(name: string, args: RedisArgument[], encoding: ReplyEncoding = 'utf8'): Promise<unknown> {
    return this.#send(new Command(name, args, { replyEncoding: encoding as BufferEncoding }));
  }

  #send(command: Command): Promise<unknown> {
    this.#cork();
    this.client.sendCommand(command);
    return command.promise;
  }

  /** Runs a script by its digest, and with its source when this Redis has not seen it yet (it did not run then). */
  async run(
    script: LuaScript,
    keys: readonly string[],
    args: readonly RedisArgument[],
    onSend?: () => void,
  ): Promise<unknown> {
    try {
      onSend?.();
      return await this.#run('evalsha', scriptArguments(script.sha1, keys, args));
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      onSend?.();
      return await this.#run('eval', scriptArguments(script.source, keys, args));
    }
  }

  #run(name: 'eval' | 'evalsha', args: RedisArgument[]): Promise<unknown> {
    return this.#send(new ScriptCommand(name, args, { replyEncoding: 'utf8' }));
  }

  /**
   * Reads the INFO of each server, by its name: the one, or the masters of a cluster that answer. Rejects if none does.
   */
  async infos(): Promise<[name: string, info: string][]> {
    if (this.client instanceof Redis) return [['redis', String(await this.send('info', []))]];
    const answers = await Promise.allSettled(
      this.client.nodes('master').map(async (server): Promise<[string, string]> => {
        const { host, port } = server.options;
        return [`${host}:${port}`, await server.info()];
      }),
    );
    const heard = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    if (heard.length === 0) throw new Error('no master of the cluster answers');
    return heard;
  }

  /**
   * Ends the connection to a single server and makes it again, which resolves its address again. Commands without an
   * answer are rejected. A connection that is not connected is coming already; a cluster's connections are left alone.
   */
  renew(): void {
    if (this.client instanceof Redis && this.isReady) this.client.disconnect(true);
  }

  close(): void {
    this.client.disconnect();
  }

  /** Delays writes until the end of the tick, so that they leave in one system call. */
  #cork(): void {
    if (this.#isCorked || !(this.client instanceof Redis)) return;
    const { stream } = this.client;
    if (stream === undefined || stream === null) return;
    this.#isCorked = true;
    stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}
