/** The page for operators about numbers in trouble names each end of a session and each alert about them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANNEL_REASONS } from '../../actors/channel-reason.ts';
import type { SessionEnd } from '../../actors/sessions/session-events.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';

const PAGE = 'docs/number-in-trouble.md';
const page = readRepositoryFile(PAGE);
const rules = readRepositoryFile('deploy/monitoring/alert-rules.yaml');
const alerts = [...rules.matchAll(/- alert: (\w+)\n +expr: (.+)\n[\s\S]*?runbook: "(.+)"\n/g)].map(
  ([, name = '', expression = '', runbook = '']) => ({ name, expression, runbook }),
);

/** Matches the metrics of sessions, numbers and what the network does to them; not those of our own processes. */
const OF_NUMBERS =
  /msgapi_(?:session_(?!workers)|sessions\b|numbers_|queue_pauses|shops_in_trouble\{trouble="(?!suspended))/;
const ofNumbers = alerts.filter(({ expression }) => OF_NUMBERS.test(expression));

const ENDS = {
  transient: true,
  restart_required: true,
  replaced: true,
  logged_out: true,
  forbidden: true,
  temporarily_banned: true,
  login_refused: true,
  outdated: true,
  egress_unreachable: true,
  qr_exhausted: true,
  pairing_refused: true,
  passkey_required: true,
  credentials_unreadable: true,
} satisfies Record<SessionEnd, true>;

const CODES = [401, 402, 403, 404, 405, 406, 409, 419, 421, 429, 440, 463, 475, 479, 515];
const BAN_CODES = [101, 102, 103, 104, 105, 106];
const EVENTS = [
  'number.restricted',
  'number.unrestricted',
  'number.warned',
  'channel.session_lost',
  'channel.disconnected',
  'queue.paused',
];

const missing = (names: readonly (string | number)[]): (string | number)[] =>
  names.filter((name) => !new RegExp(`(?<![\\w.])${name}(?![\\w.]\\w)`).test(page));

test('docs/number-in-trouble.md names every end of a session, every reason, every code of a ban, and the events', () => {
  assert.deepEqual(
    missing([...Object.keys(ENDS), ...CHANNEL_REASONS, ...CODES, ...BAN_CODES, ...EVENTS]),
    [],
  );
});

test('docs/number-in-trouble.md names every alert about sessions and numbers, and their runbooks name the page', () => {
  assert.ok(ofNumbers.length >= 13, `${ofNumbers.length}`);
  assert.deepEqual(missing(ofNumbers.map(({ name }) => name)), []);
  assert.deepEqual(
    ofNumbers.flatMap(({ name, runbook }) => (runbook.includes(PAGE) ? [] : [name])),
    [],
  );
});
