import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { writtenFiles } from './repository-files.ts';

/** Names that keep their capital letter. */
const NAMES = /^(?:Redis|Node) /;

/** Returns the texts of log lines and of errors that begin with a capital letter. */
function capitalised(source: string): string[] {
  const calls = source.matchAll(
    /\b(?:log\??\.(?:debug|info|warn|error)|new (?:Error|RuntimeFailure))\([^;]*?\)[;,)\n]/g,
  );
  return [...calls]
    .flatMap(([call]) => [...call.matchAll(/[\s(]['`]([A-Z][a-z]* [^'`\n]*)['`]/g)])
    .map(([, text]) => String(text))
    .filter((text) => !NAMES.test(text) && !text.endsWith('.'));
}

test('a capital letter at the start of a log line or an error is found', () => {
  const lines = [
    `log.warn({ shard: shard.number }, 'A shard was left');`,
    `log.error(\n  { err: error },\n  'The lease was lost: this node is back',\n);`,
    `throw new Error(\`No behaviour of \${kind}\`);`,
    `throw new RuntimeFailure('STOPPING', 'This node stops', 1);`,
  ];
  assert.deepEqual(
    lines.map((line) => capitalised(line).length),
    [1, 1, 1, 1],
  );
});

test('log lines and errors begin in lower case, except names', () => {
  const sources = writtenFiles().filter((path) =>
    /^(?:runtime|policy|actors|http|service)\/.*\.ts$/.test(path),
  );
  const foundPaths = sources.flatMap((path) =>
    capitalised(readRepositoryFile(path)).map((text) => `${path}: ${text}`),
  );
  assert.ok(sources.length > 500);
  assert.deepEqual(foundPaths, []);
});
