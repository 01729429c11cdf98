/** The value of a key in the Redis in memory: a string, a hash, a set, a list, or a sorted set. All scores are zero. */
export type Value = string | Map<string, string> | Set<string> | string[];

type Values = Map<string, Value>;
type Command = (values: Values, key: string, args: readonly string[]) => unknown;

const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';

/**
 * Runs one command, with the reply of Redis (`engine-conformance.test.ts`). Throws on a wrong type, and on a command that
 * no test needed so far. Keys do not expire, and streams are not read.
 */
export function runCommand(values: Values, [name = '', key = '', ...args]: readonly string[]): unknown {
  const command = commands[name];
  if (command === undefined) throw new Error(`The memory does not know ${name}`);
  try {
    return command(values, key, args);
  } finally {
    // Redis has no empty collection.
    const value = values.get(key);
    if (value !== undefined && typeof value !== 'string' && sizeOf(value) === 0) values.delete(key);
  }
}

const commands: Readonly<Record<string, Command>> = {
  SET(values, key, [value = '', ...options]) {
    if (options.includes('NX') && values.has(key)) return null;
    values.set(key, value);
    return 'OK';
  },
  GET(values, key) {
    const value = values.get(key) ?? null;
    if (value !== null && typeof value !== 'string') throw new Error(WRONG_TYPE);
    return value;
  },
  DEL: (values, key, otherKeys) => [key, ...otherKeys].filter((name) => values.delete(name)).length,
  UNLINK: (values, key, otherKeys) => [key, ...otherKeys].filter((name) => values.delete(name)).length,
  PEXPIREAT: (values, key) => Number(values.has(key)),
  HSET(values, key, args) {
    const hash = hashOf(values, key);
    const { size } = hash;
    for (let index = 0; index < args.length; index += 2) hash.set(args[index] ?? '', args[index + 1] ?? '');
    return hash.size - size;
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
    const set = setOf(values, key);
    const { size } = set;
    for (const member of args) set.add(member);
    return set.size - size;
  },
  SREM(values, key, args) {
    const set = setOf(values, key);
    return args.filter((member) => set.delete(member)).length;
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
  ZADD(values, key, scoresAndMembers) {
    const members = listOf(values, key);
    const addedMembers = scoresAndMembers.filter(
      (member, index) => index % 2 === 1 && !members.includes(member),
    );
    members.push(...addedMembers);
    members.sort();
    return addedMembers.length;
  },
  ZREM: (values, key, args) => removeWhere(values, key, (member) => args.includes(member)),
  ZSCORE: (values, key, [member = '']) => (listOf(values, key).includes(member) ? '0' : null),
  ZRANGE: (values, key, [from, to]) => listOf(values, key).slice(...range(from, to)),
  ZREMRANGEBYRANK(values, key, [from, to]) {
    const members = listOf(values, key).slice(...range(from, to));
    return removeWhere(values, key, (member) => members.includes(member));
  },
  // A stream is the list of its entries. Nothing is cut off, and its ids are for Redis alone.
  XADD: (values, key, args) => listOf(values, key).push(args.slice(args.indexOf('*') + 1).join(' ')),
  XTRIMOLD: () => 0,
  /** Scores are not kept: nothing is too old. */
  ZREMRANGEBYSCORE: () => 0,
  ZRANGEBYLEX: (values, key, [from, to, ...limit]) =>
    limited(
      listOf(values, key).filter((member) => isBetween(member, from, to)),
      limit,
    ),
  ZREVRANGEBYLEX: (values, key, [to, from, ...limit]) =>
    limited(
      listOf(values, key)
        .filter((member) => isBetween(member, from, to))
        .reverse(),
      limit,
    ),
  ZREMRANGEBYLEX: (values, key, [from, to]) =>
    removeWhere(values, key, (member) => isBetween(member, from, to)),
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
  if (!(value instanceof kind)) throw new Error(WRONG_TYPE);
  return value as Kind;
}

function sizeOf(value: Exclude<Value, string>): number {
  return Array.isArray(value) ? value.length : value.size;
}

/** Removes members of a list, and returns their number. */
function removeWhere(values: Values, key: string, isRemoved: (member: string) => boolean): number {
  const members = listOf(values, key);
  const keptMembers = members.filter((member) => !isRemoved(member));
  values.set(key, keptMembers);
  return members.length - keptMembers.length;
}

/** The bounds that Redis counts from either end and includes, as `slice` takes them. */
function range(from = '0', to = '-1'): [number, number | undefined] {
  const end = Number(to);
  return [Number(from), end === -1 ? undefined : end + 1];
}

function isBetween(member: string, from = '', to = ''): boolean {
  const isFrom = from === '-' || (from.startsWith('(') ? member > from.slice(1) : member >= from.slice(1));
  return isFrom && (to === '+' || (to.startsWith('(') ? member < to.slice(1) : member <= to.slice(1)));
}

/** The members that `LIMIT offset count` lets through. */
function limited(members: readonly string[], [, offset, count]: readonly string[]): readonly string[] {
  if (offset === undefined) return members;
  return members.slice(Number(offset), Number(offset) + Number(count));
}
