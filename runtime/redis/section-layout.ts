import { shardKey } from '../address.ts';
import type { CommitSection } from '../engine.ts';
import type { RedisArgument, Write } from '../store.ts';

/** Most arguments of a command that is made of several writes. Lua's stack takes eight thousand. */
const MOST_GATHERED = 2_000;

/** Called with each write of a section, the index of the command that carries it out, and the index of its turn. */
type Visit = (write: Write, command: number, turn: number) => void;

/**
 * Visits the writes of a section. Each write is a command, with one exception. If the first write is an `HSET`, the
 * `HSET`s to its key are one command, up to `MOST_GATHERED` arguments. They are the messages of a day, and each turn
 * has a field or two of them. An `HSET` that follows another kind of write to that key stays after it, so the writes to
 * a key keep their order.
 */
function eachWrite({ entries }: CommitSection, visit: Visit): void {
  const first = entries.find(({ writes }) => writes.length > 0)?.writes[0];
  let hashKey = first?.[0] === 'HSET' ? first[1] : undefined;
  let room = MOST_GATHERED;
  let commands = 0;
  for (let turn = 0; turn < entries.length; turn += 1) {
    for (const write of entries[turn]?.writes ?? []) {
      if (write[1] === hashKey) {
        room -= write.length - 2;
        if (write[0] !== 'HSET' || room < 0) hashKey = undefined;
      }
      const joinsCommand = commands > 0 && write[1] === hashKey;
      visit(write, joinsCommand ? 0 : commands, turn);
      if (!joinsCommand) commands += 1;
    }
  }
}

/** Returns the sections in the form that commit-shards.lua takes. */
export function layOut(sections: readonly CommitSection[]): { keys: string[]; args: RedisArgument[] } {
  const keys: string[] = [];
  const args: RedisArgument[] = [sections.length];
  for (const { shard } of sections) keys.push(shardKey(shard, 'owner'));
  for (const section of sections) addSection(section, keys, args);
  return { keys, args };
}

function addSection(section: CommitSection, keys: string[], args: RedisArgument[]): void {
  const keysBefore = keys.length;
  const place = args.push(section.expected, section.next, '', 0, 0);
  const otherArguments: RedisArgument[] = [];
  let first = '';
  let form = '';
  let keyBefore: string | undefined;
  eachWrite(section, (write, command) => {
    const target = command === 0 ? args : otherArguments;
    for (let index = 2; index < write.length; index += 1) target.push(write[index] as RedisArgument);
    if (command === 0 && keyBefore !== undefined) return;
    const isSame = write[1] === keyBefore;
    if (!isSame) keys.push(write[1]);
    keyBefore = write[1];
    if (command === 0) first = write[0];
    else form += `${isSame ? '=' : ''}${write[0]}${write.length - 2}`;
  });
  if (keyBefore !== undefined) args[place - 3] = `${first}${args.length - place}${form}`;
  for (const argument of otherArguments) args.push(argument);
  args[place - 2] = keys.length - keysBefore;
  args[place - 1] = args.length - place;
}

/** Returns the turns of a section to which a refused command belongs. */
export function turnsOf(section: CommitSection, refusedCommand: number): ReadonlySet<number> {
  const turns = new Set<number>();
  eachWrite(section, (_, command, turn) => {
    if (command === refusedCommand) turns.add(turn);
  });
  return turns;
}
