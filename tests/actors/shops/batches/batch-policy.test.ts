/**
 * Batches and the policy. Over random histories an oracle with its own ledger judges each message of a batch again as a
 * single send. The share of each cap is counted from the sent messages. Clocks change, processes restart, people opt
 * out, and the network bounds new chats. Forecasts are compared with a month of sends.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { batchKey } from '../../../../actors/shops/state/batches.ts';
import { evaluateMessage } from '../../../../policy/evaluate-message.ts';
import type { NewChats } from '../../../../policy/network-limits.ts';
import { type QuietHours, quietUntilMs } from '../../../../policy/quiet-hours.ts';
import { SendLedger } from '../../../../policy/send-ledger.ts';
import { messageCaps } from '../../../../policy/warm-up.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import { propertyRuns } from '../../../testbed/property-runs.ts';
import { BatchHarness, numberAt } from './batch-harness.ts';

/** A day before clocks are changed. */
const CHANGES = ['2026-03-28T14:00:00Z', '2026-10-24T14:00:00Z', '2026-06-10T14:00:00Z'] as const;

const quietHours = fc.record({
  from: fc.constantFrom('16:30', '20:00', '02:30'),
  to: fc.constantFrom('08:00', '18:05', '03:30'),
  timeZone: fc.constantFrom('Europe/Berlin', 'UTC'),
});
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 300 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('send' as const), to: fc.nat(40), text: fc.nat(3) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      count: fc.integer({ min: 1, max: 40 }),
      share: fc.constantFrom(0.1, 0.35, 0.7, 0.9),
      isFilled: fc.boolean(),
      from: fc.nat(30),
      quietHours: fc.option(quietHours, { nil: undefined }),
    }),
  },
  fc.record({
    kind: fc.constant('steer' as const),
    batch: fc.nat(3),
    order: fc.constantFrom('pause' as const, 'resume' as const, 'cancel' as const),
  }),
  fc.record({ kind: fc.constant('stop' as const), from: fc.nat(40) }),
  fc.record({ kind: fc.constant('restart' as const) }),
  fc.record({
    kind: fc.constant('quota' as const),
    quota: fc.nat(30),
    used: fc.nat(5),
    hours: fc.integer({ min: 1, max: 40 }),
  }),
);

/** The settings of a history: the shares and quiet hours of its batches, and the reports of the network. */
interface Lived {
  readonly batches: Map<string, { readonly share: number; readonly quietHours: QuietHours | undefined }>;
  /** `place`: how many messages were accepted before the report. */
  readonly told: { readonly place: number; readonly newChats: NewChats }[];
}

type Step = typeof step extends fc.Arbitrary<infer Taken> ? Taken : never;

async function take(run: BatchHarness, each: Step, lived: Lived): Promise<void> {
  switch (each.kind) {
    case 'pass':
      return run.pass(each.minutes * MINUTE_MS);
    case 'send':
      if (!run.optedOut.has(numberAt(each.to))) run.shop.send(numberAt(each.to), `text ${each.text}`);
      return;
    case 'batch': {
      const { share, quietHours, count, from, isFilled } = each;
      const recipients = Array.from({ length: count }, (_, place) => ({ to: numberAt(from + place) }));
      const text = isFilled ? 'to {{name}}' : 'text 1';
      const made = await run.create({ recipients, share, text, quietHours });
      if (made.ok) lived.batches.set(made.value.batchId, { share, quietHours });
      return;
    }
    case 'steer': {
      const id = [...lived.batches.keys()][each.batch];
      if (id !== undefined) await run.steer(id, each.order);
      return;
    }
    case 'stop':
      return run.optOut(numberAt(each.from));
    case 'restart':
      return run.restart();
    case 'quota': {
      const { nowMs } = run.shop;
      const newChats = {
        quota: each.quota,
        used: each.used,
        warning: null,
        endsAtMs: nowMs + each.hours * HOUR_MS,
      };
      run.shop.session({ type: 'session.limits', newChats });
      const place = run.shop.bodies.size;
      lived.told.push({ place, newChats: { ...newChats, accepted: 0, atMs: nowMs } });
    }
  }
}

test('a batch sends nothing that a single send could not', async (context) => {
  const history = fc.record({
    days: fc.constantFrom(0, 2, 5, 12, 20),
    at: fc.constantFrom(...CHANGES),
    steps: fc.array(step, { maxLength: 25, size: 'max' }),
  });
  let admitted = 0;
  await fc.assert(
    fc.asyncProperty(history, async ({ days, at, steps }) => {
      const run = await BatchHarness.connected(days, at);
      const lived: Lived = { batches: new Map(), told: [] };
      run.know(50);
      run.declare(21, 50);
      for (const each of steps) await take(run, each, lived);
      await run.pass(6 * HOUR_MS);
      admitted += judgedAgain(run, lived);
      leftRightly(run, lived);
    }),
    { ...propertyRuns(context, 25), endOnFailure: true, includeErrorInReport: true },
  );
  assert.ok(admitted > 0, 'histories in which batches sent something');
});

/** Checks that nothing left in quiet hours, and that no recipient got a message of a batch twice. */
function leftRightly({ sent }: BatchHarness, { batches }: Lived): void {
  const seen = new Set<string>();
  for (const { to, batchId, atMs } of sent) {
    if (batchId === undefined) continue;
    assert.ok(!seen.has(`${batchId} ${to}`), `${to} twice`);
    seen.add(`${batchId} ${to}`);
    const quietHours = batches.get(batchId)?.quietHours;
    if (quietHours !== undefined)
      assert.equal(quietUntilMs(quietHours, atMs), atMs, new Date(atMs).toISOString());
  }
}

/** Judges every message in order of acceptance; how many were of a batch. */
function judgedAgain(run: BatchHarness, { batches, told }: Lived): number {
  const { shop, settings } = run;
  const { pairedAtMs } = shop.state.channel.context;
  const ledger = new SendLedger();
  const times: { readonly atMs: number; readonly isDeclared: boolean; readonly isGone: boolean }[] = [];
  let ofBatches = 0;
  for (const body of shop.bodies.values()) {
    const nowMs = body.createdAtMs;
    const isDeclared = body.policy?.recipientClass === 'declared';
    const wrote = run.optedOut.has(body.to ?? '');
    // Messages that ended unsent use up none of the quota, so this is at most what the shop counted.
    const last = told.findLast(({ place }) => place <= times.length);
    const accepted = times.slice(last?.place).filter(({ isGone }) => !isGone).length;
    const newChats = last ? { ...last.newChats, accepted } : null;
    const judged = evaluateMessage(ledger, {
      recipient: body.to ?? '',
      text: body.text ?? undefined,
      mediaUrl: undefined,
      hasOptedOut: false,
      isCustomer: !isDeclared,
      lastInboundAtMs: wrote ? 0 : null,
      pairedAtMs,
      settings,
      nowMs,
      network: { restriction: null, newChats },
      declaration: isDeclared ? { expiresAtMs: null, isRevoked: false } : null,
    });
    assert.ok(judged.isAdmitted, `${body.id}: ${JSON.stringify(judged)}`);
    assert.deepEqual(body.policy, judged.verdict, 'with the verdict of a single send');
    ledger.record(judged.entry);
    const share = body.batchId === undefined ? undefined : batches.get(body.batchId)?.share;
    const isGone =
      shop.statusOf(body.id).startsWith('failed') || shop.statusOf(body.id).startsWith('rejected');
    times.push({ atMs: nowMs, isDeclared, isGone });
    if (share === undefined) continue;
    ofBatches += 1;
    const caps = messageCaps({ settings, pairedAtMs, nowMs });
    const timesSince = (ms: number) => times.filter(({ atMs }) => atMs > nowMs - ms);
    const most = (cap: number): number => Math.max(1, cap * share);
    assert.ok(timesSince(DAY_MS).length <= most(caps.perDay), 'its share of the day');
    assert.ok(timesSince(HOUR_MS).length <= most(caps.perHour), 'its share of the hour');
    const declaredCount = timesSince(DAY_MS).filter((one) => one.isDeclared).length;
    if (isDeclared) assert.ok(declaredCount <= most(caps.declaredPerDay), 'its share of the declared');
  }
  return ofBatches;
}

const MONTHS = [
  { days: 0, known: 900, declared: 0, text: 'hello {{name}}', share: 0.7, quiet: ['20:00', '08:00'] },
  { days: 0, known: 250, declared: 120, text: 'hello {{name}}', share: 0.5, quiet: ['12:00', '14:00'] },
  { days: 14, known: 1_500, declared: 0, text: 'we open at seven', share: 0.9, quiet: ['19:00', '09:00'] },
] as const;

for (const { days, known, declared, text, share, quiet } of MONTHS) {
  test(`a forecast is right within a day: ${known} known, ${declared} declared, day ${days}`, async () => {
    const run = await BatchHarness.connected(days, '2026-03-20T08:00:00Z');
    const recipients = mixed(run.know(known), run.declare(declared, known));
    const quietHours = { from: quiet[0], to: quiet[1], timeZone: 'Europe/Berlin' };
    const id = await run.batch({ recipients, text, share, quietHours });
    const { forecast } = await run.shown(id);
    await run.pass(30 * DAY_MS);
    assert.equal(run.sent.length, known + declared);
    endsAsForecast(run, { id, forecast, withinMs: DAY_MS });
    const first = run.sent[0]?.atMs ?? 0;
    assert.ok(Math.abs(Date.parse(forecast?.firstAt ?? '') - first) < HOUR_MS);
    const countedCount = (forecast?.days ?? []).reduce((sum, { count }) => sum + count, 0);
    assert.equal(countedCount, known + declared);
  });
}

test('a forecast is right within a day: other shares before and after, a quota, opt-outs, restarts, single sends', async () => {
  const run = await BatchHarness.connected(5, '2026-03-20T08:00:00Z');
  const quietHours = { from: '20:00', to: '08:00', timeZone: 'Europe/Berlin' };
  const endsAtMs = run.shop.nowMs + 4 * DAY_MS;
  run.shop.session({ type: 'session.limits', newChats: { quota: 60, used: 4, warning: null, endsAtMs } });
  await run.batch({ recipients: run.know(200, 5_000), share: 0.4 });
  const id = await run.batch({ recipients: run.know(900), share: 0.7, quietHours });
  await run.batch({ recipients: run.know(300, 7_000), share: 0.9, quietHours });
  const { forecast } = await run.shown(id);
  for (let day = 0; day < 30; day += 1) {
    await run.pass(DAY_MS / 2);
    run.shop.send(numberAt(9_000 + day));
    // Far enough apart that the batch goes on.
    if (day % 5 === 0) run.optOut(numberAt(800 - day));
    await run.restart();
    await run.pass(DAY_MS / 2);
  }
  const { status, progress } = await run.shown(id);
  assert.deepEqual([status, progress.waiting], ['finished', 0]);
  endsAsForecast(run, { id, forecast, withinMs: DAY_MS });
});

const mediaUrl = 'https://a.example/b.png';
for (const [name, first, second] of [
  ['one text', { text: 'we open at seven' }, { text: 'we open at seven' }],
  ['one attachment, with and without an empty text,', { text: undefined, mediaUrl }, { text: '', mediaUrl }],
] as const) {
  test(`a forecast counts ${name} of two batches together`, async () => {
    const run = await BatchHarness.connected(30, '2026-03-20T10:00:00Z');
    await run.batch({ recipients: run.know(60), ...first });
    const id = await run.batch({ recipients: run.know(60, 1_000), ...second });
    const { forecast } = await run.shown(id);
    await run.pass(DAY_MS);
    endsAsForecast(run, { id, forecast, withinMs: 10 * MINUTE_MS });
  });
}

test('a forecast is made although the content of another batch is gone', async () => {
  const run = await BatchHarness.connected();
  const goneId = await run.batch({ recipients: run.know(5), text: 'we open at seven' });
  const id = await run.batch({ recipients: run.know(5, 1_000), text: 'we open at seven' });
  run.shop.redis.run(['DEL', batchKey(run.shop.state.keys, goneId)]);
  const { forecast } = await run.shown(id);
  assert.equal(forecast?.days[0]?.count, 5);
});

interface Forecast {
  readonly id: string;
  readonly forecast: { readonly lastAt: string | null } | null | undefined;
  readonly withinMs: number;
}

/** Checks that the last message of a batch left about when the forecast said. */
function endsAsForecast({ sent }: BatchHarness, { id, forecast, withinMs }: Forecast): void {
  const last = sent.findLast(({ batchId }) => batchId === id)?.atMs ?? 0;
  const lastAtMs = Date.parse(forecast?.lastAt ?? '');
  assert.ok(Math.abs(lastAtMs - last) < withinMs, `${forecast?.lastAt} was ${new Date(last).toISOString()}`);
}

/** Both classes mixed evenly. */
function mixed<Item>(many: readonly Item[], few: readonly Item[]): Item[] {
  const every = few.length === 0 ? Number.POSITIVE_INFINITY : Math.floor(many.length / few.length);
  const otherItems = [...few];
  const list = many.flatMap((item, index) =>
    (index + 1) % every === 0 ? [item, ...otherItems.splice(0, 1)] : [item],
  );
  return [...list, ...otherItems];
}
