/** Documents name only code that exists. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { writtenFiles } from './repository-files.ts';

/** A name of the code and its file, as in "`readWriter` in `stored-writer.ts`". */
const NAME_IN_FILE = /`([A-Za-z]\w{2,})`,? (?:in |of |\()`([\w./-]+\.ts)`/g;
/** One name in backticks, or several with dots, as in `Behaviour.suspended`. */
const NAMES = /`([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)(?:\(\))?`/g;
/** A name in the style of the code: `camelCase`, `PascalCase` or `CONSTANT`. */
const IS_OF_CODE = /^[a-z]\w*[A-Z]|^[A-Z]/;

/** Names that documents may use though no code has them. */
const NOT_OURS: ReadonlySet<string> = new Set([
  // Headers and a method of HTTP that no code of ours writes in this form.
  ...['Deprecation', 'Sunset', 'CONNECT'],
  // Code of the chat client and of other clients of the network.
  ...['handleOwnDevicesNotification', 'MIN_RETRY_COUNT_FOR_KEYS', 'fetchLatestWaWebVersion'],
  ...['SetForceActiveDeliveryReceipts', 'SendPresence', 'handleHistorySyncNotificationLoop'],
  ...['resolvePeerRecipientPn', 'retryFrame', 'WaOfflineResumeCoordinator', 'storeTcTokensFromHistorySync'],
  // A handshake of the Noise protocol.
  'Noise_XX_25519_AESGCM_SHA256',
]);

const files = writtenFiles().filter((path) => path !== 'tests/bin/cited-names.test.ts');
// An old entry of the list of changes may name former code.
const documents = files.filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md');
const sources = files.filter((path) => !path.endsWith('.md'));

/** The words of all sources. Comments do not count: they may name code that is gone, like documents. */
const words = new Set(
  sources.flatMap((path) =>
    readRepositoryFile(path)
      .replaceAll(/^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm, '')
      .match(/[A-Za-z]\w*/g),
  ),
);

/** True if a file whose path ends with this one has the name. */
function isNamedIn(name: string, file: string): boolean {
  const word = new RegExp(`\\b${name}\\b`);
  return sources
    .filter((path) => path.endsWith('.ts') && `/${path}`.endsWith(`/${file}`))
    .some((path) => word.test(readRepositoryFile(path)));
}

/** Returns the problems of the names in one document. */
function problemsOf(path: string, source: string): string[] {
  const text = source.replaceAll(/^\s*```.*?^\s*```/gms, '').replaceAll(/\n\s*/g, ' ');
  const misplaced = [...text.matchAll(NAME_IN_FILE)].flatMap(([, name = '', file = '']) =>
    isNamedIn(name, file) ? [] : [`${path}: ${file} has no ${name}`],
  );
  const unknown = [...text.matchAll(NAMES)]
    .flatMap(([, names = '']) => names.split('.'))
    .filter((name) => IS_OF_CODE.test(name) && !words.has(name) && !NOT_OURS.has(name))
    .map((name) => `${path}: no code has the name ${name}`);
  return [...misplaced, ...unknown];
}

const planted: readonly (readonly [source: string, problem: RegExp | undefined])[] = [
  ['`writtenFiles` in `repository-files.ts` and `tests/bin/repository-files.ts`.', undefined],
  ['`lostFiles` in `tests/bin/repository-files.ts`.', /has no lostFiles/],
  ['`writtenFiles()` and `Behaviour.suspended`, `MOST_EVENT_WAITS`.', undefined],
  ['`DrawnEnds` of a turn.', /no code has the name DrawnEnds/],
  ['A list:\n- `TurnBuilder.drawnEndsOf`', /no code has the name drawnEndsOf/],
  ['`MOST_LOST_WAITS`', /no code has the name MOST_LOST_WAITS/],
  ['`note: record.lostName`, `word` and `Sunset`.\n\n```ts\n`lostName`\n```\n', undefined],
];

for (const [source, problem] of planted) {
  test(`${JSON.stringify(source)}: ${problem === undefined ? 'fine' : 'refused'}`, () => {
    const found = problemsOf('README.md', source).join('\n');
    if (problem === undefined) assert.equal(found, '');
    else assert.match(found, problem);
  });
}

test('each name of code in a document is in the code', () => {
  assert.ok(documents.length > 30, 'the documents were not found');
  const problems = documents.flatMap((path) => problemsOf(path, readRepositoryFile(path)));
  assert.deepEqual(problems, []);
});
