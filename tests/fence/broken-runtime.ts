import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../testbed/root.ts';

const copied = ['runtime', 'tests/fence', 'tests/runtime', 'tests/testbed', 'package.json', 'tsconfig.json'];
/** The folders that are also copied if something in `actors/` is broken. */
const copiedWithActors = ['actors', 'policy', 'tests/actors', 'tests/policy'];
/** The folders that these use, and that stay unbroken. */
const linked = ['node_modules', 'service', 'tests/e2e'];
const linkedWithActors = ['http', 'simulator', 'tests/http', 'tests/simulator'];

/** One promise broken on purpose: what is replaced by what in a file. */
export interface Breakage {
  /** The layer of the file; default: `runtime`. */
  readonly layer?: 'runtime' | 'actors';
  /** From that layer's folder on. */
  readonly file: string;
  readonly edits: readonly (readonly [from: string, to: string])[];
}

/** A copy of the runtime and of the tests that run it, to break something in. */
export interface RuntimeCopy {
  readonly directory: string;
  remove(): void;
}

/** Applies every section, whichever node owns the shard by now. */
export const withoutFence: Breakage = {
  file: 'redis/commit-shards.lua',
  edits: [['if actual[section] == ARGV[argument] then', 'if true then']],
};

/** Runs the effects of a turn before it is committed. */
export const effectBeforeCommit: Breakage = {
  file: 'actor/turn-cycle.ts',
  edits: [
    ['    for (const effect of turn.effects ?? []) this.#perform(effect);\n', ''],
    [
      '    if (this.writes.length === 0) this.#takeEffect();\n',
      '    for (const effect of this.#turn?.effects ?? []) this.#perform(effect);\n    if (this.writes.length === 0) this.#takeEffect();\n',
    ],
  ],
};

/**
 * Copies the runtime, and the actors where they are meant, and breaks it. Throws when the place to break is no longer
 * there.
 */
export function brokenRuntime({ layer = 'runtime', file, edits }: Breakage): RuntimeCopy {
  const directory = mkdtempSync(join(tmpdir(), 'broken-runtime-'));
  const isOfActors = layer === 'actors';
  for (const path of [...copied, ...(isOfActors ? copiedWithActors : [])])
    cpSync(join(root, path), join(directory, path), { recursive: true });
  for (const path of [...linked, ...(isOfActors ? linkedWithActors : [])])
    symlinkSync(join(root, path), join(directory, path));
  const path = join(directory, layer, file);
  let source = readFileSync(path, 'utf8');
  for (const [from, to] of edits) {
    if (source.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`);
    source = source.replace(from, to);
  }
  writeFileSync(path, source);
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
