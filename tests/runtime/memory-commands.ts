/** The value of a key in the Redis in memory: a string, a hash, a set, a list, or a sorted set. All scores are zero. */
export type Value = string | Map<string, string> | Set<string> | string[];

type Values = Map<string, Value>;
type Command = (values: Values, key: string, args: readonly string[]) => unknown;

/** Runs one command. Throws on a wrong type, and on a command that no test needed so far. */
export function runCommand(values: Values, [name = '', key = '', ...args]: readonly string[]): unknown {
  const command = commands[name];
  if (command === undefined) throw new Error(`The memory does not know ${name}`);
  return command(values, key, args);
}

const commands: Readonly<Record<string, Command>> = {
  SET: (values, key, [value = '']) => values.set(key, value) && 'OK',
  GET: (values, key) => values.get(key) ?? null,
  DEL: (values, key) => Number(values.delete(key)),
  UNLINK: (values, key) => Number(values.delete(key)),
  PEXPIREAT: (values, key) => Number(values.has(key)),
  HSET(values, key, args) {
    const hash = hashOf(values, key);
    for (let index = 0; index < args.length; index += 2) hash.set(args[index] ?? '', args[index + 1] ?? '');
    return args.length / 2;
  },
  HGET: (values, key, [field = '']) => hashOf(values, key).get(field) ?? null,
  HMGET: (values, key, args) => args.map((field) => hashOf(values, key).get(field) ?? null),
  HGETALL: (values, key) => [...hashOf(values, key)].flat(),
  HVALS: (values, key) => [...hashOf(values, key).values()],
  HSCAN: (values, key) => ['0', [...hashOf(values, key)].flat()],
  HDEL(values, key, args) {
    const hash = hashOf(values, key);
    return args.filter((field) => hash.delete(field)).length;
  },
  HDELIF(values, key, [field = '', value = '']) {
    const hash = hashOf(values, key);
    return Number(hash.get(field) === value && hash.delete(field));
  },
  SADD(values, key, args) {
    for (const member of args) setOf(values, key).add(member);
    return args.length;
  },
  SREM(values, key, args) {
    for (const member of args) setOf(values, key).delete(member);
    return args.length;
  },
  SISMEMBER: (values, key, [member = '']) => Number(setOf(values, key).has(member)),
  SMEMBERS: (values, key) => [...setOf(values, key)],
  SRANDMEMBER: (values, key, [count]) => [...setOf(values, key)].slice(0, Number(count)),
  RPUSH: (values, key, args) => listOf(values, key).push(...args),
  LSET(values, key, [index, element = '']) {
    const list = listOf(values, key);
    const position = Number(index) < 0 ? list.length + Number(index) : Number(index);
    if (list[position] === undefined) throw new Error('ERR index out of range');
    list[position] = element;
    return 'OK';
  },
  LLEN: (values, key) => listOf(values, key).length,
  LRANGE: (values, key, [from, to]) => listOf(values, key).slice(...range(from, to)),
  LTRIM(values, key, [from, to]) {
    values.set(key, listOf(values, key).slice(...range(from, to)));
    return 'OK';
  },
  ZADD(values, key, [, member = '']) {
    const members = listOf(values, key);
    if (members.includes(member)) return 0;
    members.push(member);
    members.sort();
    return 1;
  },
  ZREM(values, key, args) {
    const members = listOf(values, key);
    values.set(
      key,
      members.filter((member) => !args.includes(member)),
    );
    return members.length - listOf(values, key).length;
  },
  ZSCORE: (values, key, [member = '']) => (listOf(values, key).includes(member) ? '0' : null),
  ZRANGE: (values, key, [from, to]) => listOf(values, key).slice(...range(from, to)),
  ZREMRANGEBYRANK(values, key, [, to]) {
    const members = listOf(values, key);
    members.splice(0, Math.max(0, members.length + Number(to) + 1));
    return 0;
  },
  // A stream is the list of what was added to it; nothing is cut off, and ids are for Redis alone.
  XADD: (values, key, args) => listOf(values, key).push(args.slice(args.indexOf('*') + 1).join(' ')),
  XTRIMOLD: () => 0,
  /** Scores are not kept: nothing is too old. */
  ZREMRANGEBYSCORE: () => 0,
  ZREVRANGEBYLEX: (values, key) => [...listOf(values, key)].reverse(),
  ZRANGEBYLEX: (values, key, args) => listOf(values, key).filter((member) => isBetween(member, args)),
  ZREMRANGEBYLEX(values, key, args) {
    values.set(
      key,
      listOf(values, key).filter((member) => !isBetween(member, args)),
    );
    return 0;
  },
};

const hashOf = (values: Values, key: string) => typed(values, key, Map, () => new Map<string, string>());
const setOf = (values: Values, key: string) => typed(values, key, Set, () => new Set<string>());
const listOf = (values: Values, key: string) => typed(values, key, Array, () => [] as string[]);

function typed<Kind extends Value>(
  values: Values,
  key: string,
  kind: { new (...args: never[]): unknown },
  make: () => Kind,
): Kind {
  let value = values.get(key);
  if (value === undefined) {
    value = make();
    values.set(key, value);
  }
  if (!(value instanceof kind)) throw new Error('WRONGTYPE');
  return value as Kind;
}

/** The bounds that Redis counts from either end and includes, as `slice` takes them. */
function range(from = '0', to = '-1'): [number, number | undefined] {
  const end = Number(to);
  return [Number(from), end === -1 ? undefined : end + 1];
}

function isBetween(member: string, [from = '', to = '']: readonly string[]): boolean {
  const isFrom = from === '-' || (from.startsWith('(') ? member > from.slice(1) : member >= from.slice(1));
  return isFrom && (to === '+' || member < to.slice(1));
}
