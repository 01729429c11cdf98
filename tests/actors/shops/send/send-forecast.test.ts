/**
 * A shop's forecast of a send agrees with the send. In random lives of a shop, both are asked at random moments.
 * `--seed=…` repeats a run, `--runs=…` makes more of them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../../../actors/failure.ts';
import { forecastSend, policyView } from '../../../../actors/shops/operations/policy-view.ts';
import type { RecipientFacts } from '../../../../actors/shops/reading/recipient-facts.ts';
import type { AcceptedReply } from '../../../../actors/shops/shop-operations.ts';
import { resolveSettings, type TenantSettings } from '../../../../policy/tenant-settings.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { Random } from '../../../../runtime/random.ts';
import { propertyRuns } from '../../../testbed/property-runs.ts';
import { seededRandom } from '../../../testbed/seeded-random.ts';
import { ShopHarness, textDraft } from '../shop-harness.ts';

const STATES_PER_LIFE = 25;
const GROUPS = [
  { id: '1@g.us', participantCount: 120, isAdmin: true },
  { id: '2@g.us', participantCount: 7, isAdmin: true },
  { id: '3@g.us', participantCount: 7, isAdmin: false },
];

/** A shop with random recipients and random facts about them. */
class RandomLife {
  readonly shop: ShopHarness;
  readonly #random: Random;
  readonly #people = new Map<string, RecipientFacts>();
  #settings: TenantSettings = resolveSettings({});
  #texts = 0;

  constructor(shop: ShopHarness, random: Random) {
    this.shop = shop;
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  isOneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  /** Few numbers of which one is asked often, many that are asked once, groups known and unknown. */
  recipient(): string {
    if (this.isOneIn(5)) return GROUPS[this.below(4)]?.id ?? '9@g.us';
    return `+3361000${1_000 + this.below(this.isOneIn(2) ? 6 : 5_000)}`;
  }

  facts(to: string): RecipientFacts {
    const knownFacts = this.#people.get(to);
    if (knownFacts !== undefined && !this.isOneIn(6)) return knownFacts;
    const wrote = this.isOneIn(3);
    const facts: RecipientFacts = {
      isCustomer: this.isOneIn(3),
      writer: wrote
        ? {
            lastInboundAtMs: this.shop.nowMs - this.below(20) * MINUTE_MS,
            stampMs: 0,
            optedOut: this.isOneIn(4),
            wireIds: [],
          }
        : undefined,
      declaration: this.isOneIn(3)
        ? { expiresAtMs: this.isOneIn(2) ? null : this.shop.nowMs + 60_000, isRevoked: this.isOneIn(4) }
        : null,
      ...(this.isOneIn(8) ? { alias: `+3361000${1_000 + this.below(6)}` } : {}),
    };
    this.#people.set(to, facts);
    return facts;
  }

  /** Sends a text that was not sent yet. */
  send(to: string): Outcome<{ readonly accepted: AcceptedReply }> {
    const draft = textDraft(to, `text ${this.#texts++}`);
    const send = { ...(this.#people.get(to) ?? this.facts(to)), original: undefined };
    return this.shop.command(
      { type: 'send', draft, settings: this.#settings, pool: undefined },
      { send },
    ) as Outcome<{ accepted: AcceptedReply }>;
  }

  /** Returns the forecast of a send that follows at once. */
  forecast(to: string) {
    const { state, nowMs, hasWorker } = this.shop;
    const recipient = this.#people.get(to) ?? this.facts(to);
    return forecastSend(state, { to, recipient, hasWorker, settings: this.#settings, nowMs });
  }

  view() {
    return policyView(this.shop.state, { settings: this.#settings, nowMs: this.shop.nowMs });
  }

  /** Something happens to the shop. */
  step(): void {
    const { shop } = this;
    const steps: (() => void)[] = [
      () => {
        for (let left = this.below(30); left > 0; left -= 1) {
          const to = this.recipient();
          this.facts(to);
          this.send(to);
        }
      },
      () => shop.pass(this.below(90) * MINUTE_MS),
      () => {
        // Without a queue, whose deadlines would come to thousands.
        shop.command({ type: 'session.unreachable' });
        this.#finishOne();
        if (shop.state.currentMessage === undefined) shop.pass(this.below(40) * 60 * MINUTE_MS);
      },
      () => this.#finishOne(),
      () => this.#finishOne(),
      () => shop.command({ type: this.isOneIn(2) ? 'pause' : 'resume' }),
      () => this.#reconnect(),
      () => {
        const { generation } = shop.state.channel.context;
        if (this.isOneIn(3)) shop.session({ type: 'session.worker_lost', detail: 'gone' }, {}, generation);
      },
      () => {
        if (this.isOneIn(4)) shop.command({ type: 'disconnect' });
      },
      () => {
        shop.hasWorker = !this.isOneIn(6);
      },
      () => {
        this.#settings = resolveSettings({
          coldPerDay: this.isOneIn(2) ? null : 1 + this.below(50),
          declaredPerDay: this.below(4) * 10,
          groupsPerDay: 1 + this.below(20),
        });
      },
    ];
    steps[this.below(steps.length)]?.();
  }

  #finishOne(): void {
    const { currentMessage } = this.shop.state;
    if (currentMessage === undefined) return;
    this.shop.toWire(currentMessage.messageId, 'hello');
    const code = this.isOneIn(2) ? '463' : '500';
    const refused = { kind: 'refused', code } as const;
    this.shop.outcome(currentMessage.messageId, this.isOneIn(3) ? refused : { kind: 'acknowledged' });
  }

  #reconnect(): void {
    const { shop } = this;
    shop.command({ type: 'connect' });
    const ageMs = this.below(20) * 24 * 60 * MINUTE_MS;
    shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: shop.nowMs - ageMs });
    const groups = GROUPS.map((group) => ({ ...group, name: group.id, announce: false }));
    if (!this.isOneIn(3)) shop.session({ type: 'session.groups', groups });
  }
}

test('a forecast agrees with the send that follows, in random states', async (context) => {
  const { seed, numRuns } = propertyRuns(context, 500);
  const seen = new Map<string, number>();
  for (let life = 0; life * STATES_PER_LIFE < numRuns; life += 1) {
    const random = seededRandom(seed + life);
    const shop =
      random() < 0.2 ? await ShopHarness.start(seed + life) : await ShopHarness.connected(seed + life);
    const lived = new RandomLife(shop, random);
    for (let state = 0; state < STATES_PER_LIFE; state += 1) {
      for (let steps = lived.below(4); steps >= 0; steps -= 1) lived.step();
      const to = lived.recipient();
      lived.facts(to);
      const viewBefore = lived.view();
      const askedForecast = lived.forecast(to);
      assert.deepEqual(lived.view(), viewBefore, 'asking changed nothing');
      const writes = shop.writes.length;
      const sent = lived.send(to);
      const title = `seed ${seed}, life ${life}, state ${state}, to ${to}`;
      assert.deepEqual(askedForecast.failure, sent.ok ? undefined : sent.failure, title);
      if (sent.ok)
        assert.equal(askedForecast.recipientClass, sent.value.accepted.policy.recipientClass, title);
      if (sent.ok) assert.ok(shop.writes.length > writes, title);
      const code = askedForecast.failure?.code ?? `admitted ${askedForecast.recipientClass}`;
      seen.set(code, (seen.get(code) ?? 0) + 1);
      if (!sent.ok || askedForecast.recipientClass === 'group') continue;
      const { usage } = sent.value.accepted.policy;
      assert.equal(usage.today, viewBefore.usage.today + 1, title);
      assert.equal(usage.lastHour, viewBefore.usage.lastHour + 1, title);
      assert.deepEqual(sent.value.accepted.policy.caps, viewBefore.caps, title);
    }
  }
  context.diagnostic([...seen].map(([code, times]) => `${code}: ${times}`).join(', '));
  if (numRuns < 500) return;
  for (const code of ['admitted known', 'admitted group', 'RECIPIENT_RATE_LIMITED', 'MSGAPP_NOT_CONNECTED'])
    assert.ok(seen.has(code), `no state came to ${code}`);
});
