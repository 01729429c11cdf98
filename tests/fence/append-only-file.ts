import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every write Redis ever applied, in the order in which it did, as the words of its command. */
export function* appliedWrites(directory: string): Generator<readonly string[]> {
  const folder = join(directory, 'appendonlydir');
  const manifest = readFileSync(join(folder, 'appendonly.aof.manifest'), 'utf8');
  for (const [, file, type] of manifest.matchAll(/^file (\S+) seq \d+ type (\w)/gm)) {
    // The base holds what was there when the file was begun: nothing, since no test lets it be rewritten.
    if (type === 'i') yield* commandsIn(readFileSync(join(folder, String(file)), 'latin1'));
  }
}

/** Yields the commands of a client's bytes: `*words`, then `$length` and the word, each ended by CR LF. */
function* commandsIn(text: string): Generator<readonly string[]> {
  let offset = 0;
  const line = (): string => {
    const end = text.indexOf('\r\n', offset);
    const found = text.slice(offset, end);
    offset = end + 2;
    return found;
  };
  while (offset < text.length) {
    const head = line();
    // An annotation of Redis's own.
    if (head.startsWith('#')) continue;
    yield Array.from({ length: Number(head.slice(1)) }, () => {
      const length = Number(line().slice(1));
      const word = text.slice(offset, offset + length);
      offset += length + 2;
      return word;
    });
  }
}
