import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import { startRedisServer } from '../../testbed/redis-server.ts';
import type { Draw } from '../draw.ts';
import type { FuzzTarget } from '../fuzz-target.ts';

interface ScriptCall {
  /** The script's path. */
  readonly script: string;
  /** The keys in Redis before. */
  readonly before: readonly (readonly string[])[];
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** The calls of the corpus. */
export const CALLS = JSON.parse(
  readRepositoryFile('tests/fuzz/corpus/script-calls.json'),
) as readonly ScriptCall[];
const SOURCES = new Map(CALLS.map(({ script }) => [script, readRepositoryFile(script)]));

/** Scripts of Redis with arguments that are missing, broken or in another's place: an error writes nothing. */
export const scripts: FuzzTarget = {
  name: 'scripts',
  async open() {
    const server = await startRedisServer({
      appendfsync: 'no',
      extraArgs: ['--enable-debug-command', 'yes'],
    });
    const redis = new Redis(server.url);
    const call = (command: readonly string[]): Promise<unknown> => {
      const [name = '', ...rest] = command;
      return redis.call(name, ...rest);
    };
    return {
      async tryCase(draw, note) {
        const keptCall = draw.pick(CALLS);
        const keys = draw.isOneIn(3) ? otherCount(draw, keptCall.keys) : keptCall.keys;
        const args = changed(draw, keptCall.args);
        note({ script: keptCall.script, keys, args });
        await redis.flushall();
        for (const command of keptCall.before) await call(command);
        const before = await redis.call('DEBUG', 'DIGEST');
        const source = SOURCES.get(keptCall.script) ?? '';
        const failure = await redis.eval(source, keys.length, ...keys, ...args).then(
          () => undefined,
          (error: unknown) => error,
        );
        assert.equal(await redis.ping(), 'PONG');
        if (failure === undefined) return;
        const after = await redis.call('DEBUG', 'DIGEST');
        assert.equal(after, before, `it wrote before it failed: ${String(failure)}`);
      },
      async close() {
        redis.disconnect();
        await server.stop();
      },
    };
  },
};

/** Too few keys or too many: that a key has another type is no question of arguments. */
function otherCount(draw: Draw, keys: readonly string[]): readonly string[] {
  return draw.isOneIn(4) ? [...keys, '{s0}:more'] : keys.slice(0, draw.int(keys.length));
}

/** The arguments with one to three of them left out, broken, doubled or exchanged. */
function changed(draw: Draw, args: readonly string[]): string[] {
  const result = [...args];
  for (let changes = draw.int(4); changes > 0 && result.length > 0; changes -= 1) {
    const index = draw.int(result.length);
    const value = result[index] ?? '';
    switch (draw.int(6)) {
      case 0:
        result.splice(index, 1);
        break;
      case 1:
        result.splice(index, 0, value);
        break;
      case 2:
        result[index] = draw.pick(args);
        break;
      case 3:
        result[index] = draw.mutatedText(value);
        break;
      case 4:
        result[index] = draw.pick([
          '',
          '0',
          '-1',
          'x',
          '1e400',
          'nan',
          'inf',
          '9007199254740993',
          '0x10',
          '{s1}:other',
        ]);
        break;
      default:
        result.length = index;
    }
  }
  return result;
}
