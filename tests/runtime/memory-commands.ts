/**
 * The value of a key in the Redis in memory: a string, a hash, a set, or a list. Sorted sets and streams are lists too,
 * so a command of one works on the others. Scores are not kept: all are zero.
 */
export type Value = string | Map<string, string> | Set<string> | string[];

type Values = Map<string, Value>;
type Command = (values: Values, key: string, args: readonly string[]) => unknown;

const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';

/**
 * Runs one command, with the reply of Redis (`engine-conformance.test.ts`). Throws on a wrong type, and on a command or
 * an option that no test needed so far. Keys do not expire, and streams are not read.
 */
export function runCommand(values: Values, [name = '', key = '', ...args]: readonly string[]): unknown {
  const command = commands[name];
  if (command === undefined || !hasKnownOptions(name, args))
    throw new Error(`The memory does not know ${[name, key, ...args].join(' ')}`);
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
    const { length } = members;
    for (const [index, member] of scoresAndMembers.entries())
      if (index % 2 === 1 && !members.includes(member)) members.push(member);
    members.sort();
    return members.length - length;
  },
  ZREM: (values, key, args) => removeWhere(values, key, (member) => args.includes(member)),
  ZSCORE: (values, key, [member = '']) => (listOf(values, key).includes(member) ? '0' : null),
  ZRANGE(values, key, [from, to, by, ...limit]) {
    const members = listOf(values, key);
    if (by === undefined) return members.slice(...range(from, to));
    // Scores are not kept, so no member is between two scores.
    if (by === 'BYSCORE') return [];
    return lexRange(members, from, to, limit);
  },
  ZREMRANGEBYRANK(values, key, [from, to]) {
    const members = listOf(values, key).slice(...range(from, to));
    return removeWhere(values, key, (member) => members.includes(member));
  },
  // A stream is the list of its entries. It is not trimmed, and it has no ids.
  XADD: (values, key, args) => listOf(values, key).push(args.slice(args.indexOf('*') + 1).join(' ')),
  XTRIMOLD: () => 0,
  /** Scores are not kept, so no member is too old. */
  ZREMRANGEBYSCORE: () => 0,
  ZRANGEBYLEX: (values, key, [from, to, ...limit]) => lexRange(listOf(values, key), from, to, limit),
  ZREVRANGEBYLEX: (values, key, [to, from, ...limit]) =>
    lexRange(listOf(values, key).toReversed(), from, to, limit),
  ZREMRANGEBYLEX: (values, key, [from, to]) =>
    removeWhere(values, key, (member) => isBetween(member, from, to)),
};

const LEX_LIMIT = / LIMIT \d+ \d+/.source;

/** For each command with options: its fixed arguments after the key, and the options that it may have here. */
const OPTIONS: Readonly<Record<string, readonly [fixed: number, rest: RegExp]>> = {
  SET: [1, /^( NX)?( (EX|PX|PXAT) \d+)?$/],
  PEXPIREAT: [1, /^( NX| GT)?$/],
  HSCAN: [1, /^( COUNT \d+)?$/],
  SRANDMEMBER: [1, /^$/],
  // A score comes first, so there is no option before it.
  ZADD: [0, /^ -?\d/],
  ZRANGE: [2, new RegExp(`^( BYSCORE| BYLEX(${LEX_LIMIT})?)?$`)],
  ZRANGEBYLEX: [2, new RegExp(`^(${LEX_LIMIT})?$`)],
  ZREVRANGEBYLEX: [2, new RegExp(`^(${LEX_LIMIT})?$`)],
  XADD: [0, /^( MAXLEN ~ \d+)? \*( |$)/],
};

function hasKnownOptions(name: string, args: readonly string[]): boolean {
  const [fixed, rest] = OPTIONS[name] ?? [];
  const options = args.slice(fixed).map((argument) => ` ${argument}`);
  return rest === undefined || rest.test(options.join(''));
}

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

/** Returns the arguments of `slice` for bounds of Redis, which count from either end and are inclusive. */
function range(from = '0', to = '-1'): [number, number | undefined] {
  const end = Number(to);
  return [Number(from), end === -1 ? undefined : end + 1];
}

function isBetween(member: string, from = '', to = ''): boolean {
  const isFrom = from === '-' || (from.startsWith('(') ? member > from.slice(1) : member >= from.slice(1));
  return isFrom && (to === '+' || (to.startsWith('(') ? member < to.slice(1) : member <= to.slice(1)));
}

/** Returns the members between two others, limited by `LIMIT offset count`. */
function lexRange(
  members: readonly string[],
  from: string | undefined,
  to: string | undefined,
  [, offset = '0', count = 'Infinity']: readonly string[],
): readonly string[] {
  return members
    .filter((member) => isBetween(member, from, to))
    .slice(Number(offset), Number(offset) + Number(count));
}
