/** Tables of folders in documents have a row for each folder, and none for one that is gone. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

/** The folder whose folders each table of a document names, in the order of its tables. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  'ARCHITECTURE.md': ['.'],
  'docs/folders.md': [
    'actors',
    'actors/shops/turns',
    'actors/sessions/worker-thread',
    'http',
    'http/console/app',
    'tests',
  ],
  'runtime/README.md': ['runtime'],
  'simulator/README.md': ['simulator'],
  'bench/README.md': ['bench'],
};

/** Folders that commands make. */
const MADE = new Set(['node_modules', 'dist', 'coverage', 'results']);

/** Returns the names of the folders in a folder. */
function foldersIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !MADE.has(entry.name))
    .map(({ name }) => name);
}

/** Returns the folders that each table of a document names in its first column. */
function tablesOf(document: string): string[][] {
  const tables = readRepositoryFile(document).matchAll(/^\| Folder .*\n(?:\|.*\n)+/gm);
  return [...tables].map(([table]) =>
    [...table.matchAll(/^\|(.*?)\|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([\w/-]+)\/`/g)].map(([, folder = '']) => folder),
    ),
  );
}

/**
 * Returns the folders that a table must name: those in its subject. If it names two folders of a folder below, it must
 * name all of them.
 */
function expectedFolders(subject: string, named: readonly string[]): string[] {
  const parents = named.map((folder) => folder.replace(/\/?[^/]*$/, ''));
  const whole = parents.filter((parent, index) => parent !== '' && parents.indexOf(parent) !== index);
  return ['', ...new Set(whole)].flatMap((parent) =>
    foldersIn(join(subject, parent)).map((name) => join(parent, name)),
  );
}

for (const [document, subjects] of Object.entries(TABLES)) {
  test(`${document}: its tables of folders name each folder, and no other`, () => {
    const tables = tablesOf(document);
    assert.equal(tables.length, subjects.length);
    for (const [index, subject] of subjects.entries()) {
      const named = tables[index] ?? [];
      const missing = expectedFolders(subject, named).filter((folder) => !named.includes(folder));
      const gone = named.filter((folder) => !existsSync(join(root, subject, folder)));
      assert.deepEqual({ subject, missing, gone }, { subject, missing: [], gone: [] });
    }
  });
}
