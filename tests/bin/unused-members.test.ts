/**
 * No class has a member that nobody uses. knip looks for unused exports only, and the compiler for unused `#` members.
 * A member counts as used if its name is read anywhere, also if that is another class's member of this name.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { writtenFiles } from './repository-files.ts';

const CLASS = /^(?:export )?(?:abstract )?class (\w+)/;

/** A method, an accessor or a field, as the formatter writes it. A member with `override` is used by its base class. */
const MEMBER =
  /^ {2}(?:(?:private|protected|static|abstract|readonly|async|get|set) )*\*?(?!constructor\b)([A-Za-z]\w*)(?=[(<?!:;]| =)/;

/** A name after a point, in quotation marks, or alone in a pattern or a list. */
const USED =
  /\.([A-Za-z]\w*)|['"`]([A-Za-z]\w*)['"`]|(?<=[{,(]\s*)([A-Za-z]\w*)(?=\s*[,}=]|: [\w{]+\s*[,}=])/g;

/** Members that only a library calls. */
const CALLED_BY_LIBRARY = ['ContactType.getQueryElement', 'ContactType.getUserElement'];

interface Member {
  readonly name: string;
  readonly shown: string;
}

/** Returns the members that a source declares, and the names that the rest of it uses. */
function readSource(source: string): {
  readonly members: readonly Member[];
  readonly used: Iterable<string>;
} {
  const members: Member[] = [];
  let className: string | undefined;
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  const otherCodes = code.split('\n').map((line) => {
    className = line.startsWith('}') ? undefined : (CLASS.exec(line)?.[1] ?? className);
    const name = className === undefined ? undefined : MEMBER.exec(line)?.[1];
    if (name === undefined) return line;
    members.push({ name, shown: `${className}.${name}` });
    return line.replace(MEMBER, '');
  });
  const used = Array.from(
    otherCodes.join('\n').matchAll(USED),
    ([, read, quoted, listed]) => read ?? quoted ?? listed ?? '',
  );
  return { members, used };
}

/** Returns the members that none of the sources uses. */
function unusedMembers(sources: readonly string[]): string[] {
  const read = sources.map(readSource);
  const used = new Set(read.flatMap((source) => [...source.used]));
  return read.flatMap(({ members }) =>
    members.filter(({ name }) => !used.has(name)).map(({ shown }) => shown),
  );
}

const planted: readonly (readonly [member: string, use: string, isUsed: boolean])[] = [
  ['stop(): void {}', 'pump.stop();', true],
  ['get size(): number {', 'const { size } = pump;', true],
  ['readonly size = 1;', 'const { size: length } = pump;', true],
  ['readonly size = 1;', "type Part = Pick<Pump, 'size'>;", true],
  ['static async open<Value>(', 'const size = 1;', false],
  ['size = 1;', '', false],
  ['stop(): void {}', '/** Calls pump.stop(). */', false],
  ['get size(): number {', '// pump.size', false],
  ['readonly size: number;', 'const resized = pump.sizes;', false],
  ['override stop(): void {}', '', true],
];

for (const [member, use, isUsed] of planted) {
  test(`${member} is ${isUsed ? 'used' : 'unused'} by ${JSON.stringify(use)}`, () => {
    const found = unusedMembers([`export class Pump {\n  ${member}\n}\n`, use]);
    assert.equal(found.length, isUsed ? 0 : 1);
  });
}

test('each member of a class is used', () => {
  const files = writtenFiles().filter(
    (path) => path.endsWith('.ts') && path !== 'tests/bin/unused-members.test.ts',
  );
  assert.ok(files.length > 1_000, 'the files were not found');
  const unused = unusedMembers(files.map((path) => readRepositoryFile(path)));
  assert.deepEqual(unused, CALLED_BY_LIBRARY);
});
