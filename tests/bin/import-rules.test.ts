import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { allowedImports, importOverrides, rooms } from '../../bin/import-rules.ts';

const root = resolve(import.meta.dirname, '../..');
const sources = ['runtime', 'policy', 'actors', 'http', 'simulator', 'client', 'bin'].flatMap((room) =>
  sourcesOf(join(root, room)),
);

/** The program's files below a folder, without what is made of them; the console's own run in a browser. */
function sourcesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('app/') && !path.startsWith('dist/'))
    .map((path) => relative(root, join(folder, path)));
}

/** The rooms that a file imports from, itself left out. */
function importedRooms(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const room = dirname(path);
  return [...text.matchAll(/(?:from|import) '(\.[^']+)'/g)]
    .map(([, specifier]) => join(room, dirname(String(specifier))))
    .filter((target) => target !== room);
}

test('the linter has the overrides that the table makes', () => {
  const written = JSON.parse(readFileSync(join(root, 'biome.imports.json'), 'utf8'));
  assert.deepEqual(written, { overrides: importOverrides() }, 'npm run import-rules writes them');
});

test('every folder with a program in it is a room of the table', () => {
  assert.deepEqual([...new Set(sources.map((path) => dirname(path)))].sort(), [...rooms].sort());
});

test('no arrow of the table is without an import', () => {
  const used = new Set(
    sources.flatMap((path) => importedRooms(path).map((target) => `${dirname(path)} → ${target}`)),
  );
  // The chain of the large rooms is a rule of the architecture, whether or not an import uses it today.
  const allowed = Object.entries(allowedImports).flatMap(([room, targets]) =>
    targets
      .filter((target) => room.includes('/') || target.includes('/'))
      .map((target) => `${room} → ${target}`),
  );
  assert.deepEqual(
    allowed.filter((arrow) => !used.has(arrow)),
    [],
  );
});

test('no two rooms may import each other', () => {
  const mutual = Object.entries(allowedImports).flatMap(([room, targets]) =>
    targets.filter((target) => allowedImports[target]?.includes(room)).map((target) => `${room} ↔ ${target}`),
  );
  assert.deepEqual(mutual, []);
});
