/**
 * Batches and the policy. Over random histories each message of a batch is judged again as a single send, by an oracle that
 * has a ledger of its own, and the share of each cap is counted from what was sent. Forecasts are compared with a month that
 * is lived through.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import { NO_LIMITS } from '../../policy/network-limits.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { messageCaps } from '../../policy/warm-up.ts';
import { propertyRuns } from '../policy/property-runs.ts';
import { BatchHarness, DAY_MS, HOUR_MS, numberAt } from './batch-harness.ts';

const step = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ kind: fc.constant('send' as const), to: fc.nat(40), text: fc.nat(3) }),
  fc.record({
    kind: fc.constant('batch' as const),
    count: fc.integer({ min: 1, max: 40 }),
    share: fc.constantFrom(0.1, 0.35, 0.7, 0.9),
    isFilled: fc.boolean(),
    from: fc.nat(30),
  }),
  fc.record({ kind: fc.constant('steer' as const), order: fc.constantFrom('pause', 'resume', 'cancel') }),
);

test('a number with batches is let send nothing that single sends would be refused', async (context) => {
  const history = fc.record({
    days: fc.constantFrom(0, 2, 5, 12, 20),
    steps: fc.array(step, { maxLength: 25 }),
  });
  let admitted = 0;
  await fc.assert(
    fc.asyncProperty(history, async ({ days, steps }) => {
      const run = await BatchHarness.connected(days);
      const shares = new Map<string, number>();
      run.know(50);
      run.declare(21, 50);
      for (const each of steps) {
        if (each.kind === 'pass') await run.pass(each.minutes * 60_000);
        else if (each.kind === 'send') run.shop.send(numberAt(each.to), `text ${each.text}`);
        else if (each.kind === 'batch') {
          const recipients = Array.from({ length: each.count }, (_, place) => ({
            to: numberAt(each.from + place),
          }));
          const text = each.isFilled ? 'to {{name}}' : 'text 1';
          const made = await run.create({ recipients, share: each.share, text });
          if (made.ok) shares.set(made.value.batchId, each.share);
        } else {
          const [id] = shares.keys();
          if (id !== undefined) await run.steer(id, each.order as 'pause');
        }
      }
      await run.pass(6 * HOUR_MS);
      admitted += judgedAgain(run, shares);
    }),
    { ...propertyRuns(context, 25), endOnFailure: true },
  );
  assert.ok(admitted > 0, 'histories in which batches sent something');
});

/** Judges every message in order of acceptance; how many were of a batch. */
function judgedAgain({ shop, settings }: BatchHarness, shares: ReadonlyMap<string, number>): number {
  const { pairedAtMs } = shop.state.channel.context;
  const ledger = new SendLedger();
  const times: { readonly atMs: number; readonly isDeclared: boolean }[] = [];
  let ofBatches = 0;
  for (const body of shop.bodies.values()) {
    const nowMs = body.createdAtMs;
    const isDeclared = body.policy?.recipientClass === 'declared';
    const judged = evaluateMessage(ledger, {
      ...{ recipient: body.to ?? '', text: body.text ?? undefined, mediaUrls: [], optedOut: false },
      ...{ isCustomer: !isDeclared, lastInboundAtMs: null, network: NO_LIMITS, pairedAtMs, settings, nowMs },
      declaration: isDeclared ? { expiresAtMs: null, revoked: false } : null,
    });
    assert.ok(judged.admitted, `${body.id}: ${JSON.stringify(judged)}`);
    assert.deepEqual(body.policy, judged.verdict, 'with the verdict of a single send');
    ledger.record(judged.entry);
    const share = body.batchId === undefined ? undefined : shares.get(body.batchId);
    times.push({ atMs: nowMs, isDeclared });
    if (share === undefined) continue;
    ofBatches += 1;
    const caps = messageCaps({ settings, pairedAtMs, nowMs });
    const since = (ms: number) => times.filter(({ atMs }) => atMs > nowMs - ms);
    assert.ok(since(DAY_MS).length <= Math.max(1, caps.perDay * share), 'its share of the day');
    assert.ok(since(HOUR_MS).length <= Math.max(1, caps.perHour * share), 'its share of the hour');
    const declared = since(DAY_MS).filter((one) => one.isDeclared).length;
    if (isDeclared)
      assert.ok(declared <= Math.max(1, caps.declaredPerDay * share), 'its share of the declared');
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
    const run = await BatchHarness.connected(days);
    const recipients = mixed(run.know(known), run.declare(declared, known));
    const quietHours = { from: quiet[0], to: quiet[1], timeZone: 'Europe/Berlin' };
    const id = await run.batch({ recipients, text, share, quietHours });
    const { forecast } = await run.shown(id);
    await run.pass(30 * DAY_MS);
    assert.equal(run.sent.length, known + declared);
    const lastAtMs = Date.parse(forecast?.lastAt ?? '');
    const [first, last] = [run.sent[0]?.atMs ?? 0, run.sent.at(-1)?.atMs ?? 0];
    assert.ok(Math.abs(lastAtMs - last) < DAY_MS, `${forecast?.lastAt} was ${new Date(last).toISOString()}`);
    assert.ok(Math.abs(Date.parse(forecast?.firstAt ?? '') - first) < HOUR_MS);
    const counted = (forecast?.days ?? []).reduce((sum, { count }) => sum + count, 0);
    assert.equal(counted, known + declared);
  });
}

/** Both classes mixed evenly. */
function mixed<Item>(many: readonly Item[], few: readonly Item[]): Item[] {
  const every = few.length === 0 ? Number.POSITIVE_INFINITY : Math.floor(many.length / few.length);
  const rest = [...few];
  const list = many.flatMap((item, index) =>
    (index + 1) % every === 0 ? [item, ...rest.splice(0, 1)] : [item],
  );
  return [...list, ...rest];
}
