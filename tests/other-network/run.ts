/** Runs the checks: see README.md beside this file. `npm run test:other-network [-- --peer=PATH]` */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { moduleFile, nodeFlags } from '../testbed/root.ts';
import { fetchServer, SERVER_TSCONFIG } from './server-source.ts';

const { values } = parseArgs({ options: { peer: { type: 'string' } } });
const directory = mkdtempSync(join(tmpdir(), 'other-network-'));
const source = join(directory, 'zapo');
try {
  const reason = fetchServer(source, values.peer);
  if (reason === undefined) process.exitCode = check();
  // bin/nightly repeats such a line at its end.
  else console.log(`not run: ${reason}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Runs the checks in a process that compiles the other project with its own settings; the exit code. */
function check(): number {
  const settings = `TSX_TSCONFIG_PATH=${join(source, SERVER_TSCONFIG)}`;
  const program = [
    process.execPath,
    ...nodeFlags,
    '--test-reporter=spec',
    moduleFile('tests/other-network/checks.ts'),
    source,
  ];
  return spawnSync('env', [settings, ...program], { stdio: 'inherit' }).status ?? 1;
}
