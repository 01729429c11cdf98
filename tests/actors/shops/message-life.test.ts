/** Random events happen to a shop. Its messages keep their rules at every moment, and end as they must. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SendOutcome, SessionEnd } from '../../../actors/sessions/session-events.ts';
import { PACING_TIMES } from '../../../actors/shops/machines/pacing-times.ts';
import type { ShopCommand } from '../../../actors/shops/protocol/shop-commands.ts';
import { channelState, liveGroups, pacingState } from '../../../actors/shops/state/shop-state.ts';
import { resolveSettings } from '../../../policy/tenant-settings.ts';
import { HOUR_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { poolShop } from './pool/pool-exchange.ts';
import { ShopHarness } from './shop-harness.ts';

const GROUP_ID = '120363000000000001@g.us';
const settings = resolveSettings({});

type PlainKind =
  | 'work'
  | 'send'
  | 'sendToGroup'
  | 'postStatus'
  | 'carry'
  | 'groups'
  | 'up'
  | 'qr'
  | 'restart'
  | 'crash'
  | 'handOver'
  | 'workerLost'
  | 'unreachable'
  | 'connect'
  | 'disconnect'
  | 'pause'
  | 'resume';

type Step =
  | { readonly kind: PlainKind }
  | { readonly kind: 'firstLook' | 'prepared'; readonly wrote: 'hello' | 'STOP' | 'nothing' }
  | { readonly kind: 'outcome'; readonly outcome: SendOutcome }
  | { readonly kind: 'closed'; readonly end: SessionEnd }
  | { readonly kind: 'pass'; readonly ms: number };

/**
 * An outcome of each kind, and the only state in which its message may have it, if there is one. A message on the wire
 * was looked up before, and a message that was not on the wire has no outcome of the wire. It is `unknown` before the
 * wire if the client addressed no device.
 */
const outcomes: {
  readonly [Kind in SendOutcome['kind']]: readonly [
    outcome: Extract<SendOutcome, { readonly kind: Kind }>,
    onlyWhile?: 'preparing' | 'sending',
  ];
} = {
  acknowledged: [{ kind: 'acknowledged' }, 'sending'],
  rate_limited: [{ kind: 'rate_limited' }],
  not_sent: [{ kind: 'not_sent' }],
  unprepared: [{ kind: 'unprepared' }],
  unknown: [{ kind: 'unknown' }],
  restarted: [{ kind: 'restarted' }, 'sending'],
  refused: [{ kind: 'refused', code: '463' }, 'sending'],
  media_unavailable: [{ kind: 'media_unavailable', detail: '' }],
  not_on_network: [{ kind: 'not_on_network' }, 'preparing'],
  no_chat: [{ kind: 'no_chat' }, 'preparing'],
};
const ends: readonly SessionEnd[] = [
  'transient',
  'transient',
  'restart_required',
  'replaced',
  'logged_out',
  'qr_exhausted',
  'outdated',
];

const kinds = (...kinds: readonly PlainKind[]) => fc.constantFrom(...kinds).map((kind): Step => ({ kind }));
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 16, arbitrary: fc.constant<Step>({ kind: 'work' }) },
  { weight: 4, arbitrary: kinds('send', 'send', 'sendToGroup', 'postStatus', 'carry') },
  ...(['firstLook', 'prepared'] as const).map((kind) => ({
    weight: 5,
    arbitrary: fc
      .constantFrom('hello' as const, 'hello' as const, 'nothing' as const, 'STOP' as const)
      .map((wrote): Step => ({ kind, wrote })),
  })),
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(...Object.values(outcomes))
      .map(([outcome]): Step => ({ kind: 'outcome', outcome })),
  },
  { weight: 2, arbitrary: fc.constantFrom(...ends).map((end): Step => ({ kind: 'closed', end })) },
  { weight: 5, arbitrary: kinds('up', 'up', 'up', 'groups', 'connect', 'qr') },
  {
    weight: 2,
    arbitrary: kinds(
      'restart',
      'crash',
      'handOver',
      'workerLost',
      'unreachable',
      'disconnect',
      'pause',
      'resume',
    ),
  },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(0, 1_000, 6_000, 20_000, 20_000, 60_000, 600_000, 900_000)
      .map((ms): Step => ({ kind: 'pass', ms })),
  },
);

/** A shop with what was seen of its messages. */
class Life {
  readonly shop: ShopHarness;
  readonly accepted: string[] = [];
  readonly ended = new Map<string, string>();
  #effects = 0;
  #number = 0;
  /** Messages that a session may have sent, without a report that it had not. */
  readonly #given = new Set<string>();
  #onWire: string | undefined;
  /** The recipient's words before the session asked to send the message on the wire once more. */
  #wroteBeforeRepeat: 'hello' | 'STOP' | 'nothing' | undefined;
  #wireFreeAtMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(shop: ShopHarness) {
    this.shop = shop;
  }

  take(step: Step): void {
    const { shop } = this;
    const messageId = shop.state.currentMessage?.messageId ?? '';
    this.#number += 1;
    switch (step.kind) {
      case 'work':
        this.#work(messageId);
        break;
      case 'send':
        this.#accepted(shop.send(`+3360${1_000_000 + this.#number}`, `text ${this.#number}`));
        break;
      case 'sendToGroup':
        this.#accepted(shop.send(GROUP_ID, `text ${this.#number}`));
        break;
      case 'postStatus':
        this.#postStatus();
        break;
      case 'carry':
        this.#carry();
        break;
      case 'groups': {
        const group = { id: GROUP_ID, name: '', participantCount: 9, isAdmin: true, announce: false };
        if (channelState(shop.state) === 'connected')
          shop.session({ type: 'session.groups', groups: [group] });
        break;
      }
      case 'up':
        shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
        break;
      case 'qr':
        shop.session({ type: 'session.qr', qr: 'q', expiresAtMs: 1 });
        break;
      case 'restart':
        shop.restart();
        this.#freeWire();
        break;
      case 'crash':
        shop.restart('crash');
        break;
      case 'handOver':
        shop.drain();
        if (!shop.isSettled) this.#outcome(messageId, { kind: 'not_sent' });
        shop.state = { ...shop.state, isDispatching: true };
        shop.restart();
        break;
      case 'workerLost':
        this.#lose({ type: 'session.worker_lost', generation: this.#generation, detail: '' });
        break;
      case 'closed':
        this.#lose({
          type: 'session.closed',
          generation: this.#generation,
          end: step.end,
          statusCode: undefined,
          detail: '',
        });
        break;
      case 'firstLook':
      case 'prepared': {
        const writer =
          step.wrote === 'nothing'
            ? undefined
            : { lastInboundAtMs: 0, stampMs: 0, optedOut: step.wrote === 'STOP', wireIds: [] };
        const dispatch = { body: shop.bodies.get(messageId), writer, audience: ['+33600000001'] };
        // A session that asks about a message on the wire wants to send it once more.
        const isToPerson = dispatch.body?.kind === 'message' && dispatch.body.to !== GROUP_ID;
        if (messageId === this.#onWire) this.#wroteBeforeRepeat = isToPerson ? step.wrote : 'nothing';
        if (step.kind === 'firstLook') shop.command({ type: 'first_look', messageId }, { dispatch });
        else if (shop.state.currentBody !== undefined)
          shop.session({ type: 'session.prepared', messageId, writes: [] }, { dispatch });
        break;
      }
      case 'outcome': {
        const pacing = pacingState(shop.state);
        const [, onlyWhile] = outcomes[step.outcome.kind];
        const isPossible =
          onlyWhile === undefined ? ['preparing', 'sending'].includes(pacing) : onlyWhile === pacing;
        if (isPossible) this.#outcome(messageId, step.outcome);
        break;
      }
      case 'pass':
        shop.pass(step.ms);
        break;
      case 'unreachable':
        shop.command({ type: 'session.unreachable' });
        break;
      default:
        shop.command({ type: step.kind });
    }
    this.check();
  }

  get #generation(): number {
    return this.shop.state.channel.context.generation;
  }

  /** Does the work of a session and its network without a failure. */
  #work(messageId: string): void {
    const { shop } = this;
    const channel = channelState(shop.state);
    const pacing = pacingState(shop.state);
    if (channel === 'disconnected') {
      shop.command({ type: 'connect' });
    } else if (channel !== 'connected') {
      this.take({ kind: 'up' });
    } else if (pacing === 'preparing') {
      const kind = shop.state.currentBody === undefined ? 'firstLook' : 'prepared';
      this.take({ kind, wrote: 'hello' });
    } else if (pacing === 'sending') {
      this.#outcome(messageId, { kind: 'acknowledged' });
    } else {
      shop.pass(20_000);
    }
  }

  /** Gives orders their outcomes before the end of their session is reported, or reports them unsent after it. */
  #lose(event: ShopCommand): void {
    const messageId = this.shop.state.currentMessage?.messageId ?? '';
    const isSending = pacingState(this.shop.state) === 'sending';
    this.shop.command(event);
    if (isSending) this.#outcome(messageId, { kind: this.#number % 2 === 0 ? 'not_sent' : 'unknown' });
  }

  #outcome(messageId: string, outcome: SendOutcome): void {
    if (outcome.kind === 'rate_limited') this.#pausedUntilMs = this.shop.nowMs + PACING_TIMES.pauseMs;
    if (['rate_limited', 'not_sent', 'unprepared'].includes(outcome.kind)) this.#given.delete(messageId);
    this.shop.outcome(messageId, outcome);
    this.#freeWire();
  }

  #freeWire(): void {
    if (this.#onWire === undefined) return;
    const endedAtMs = this.shop.messages.get(this.#onWire)?.updatedAtMs;
    this.#wireFreeAtMs = endedAtMs ?? this.shop.nowMs;
    this.#onWire = undefined;
  }

  #accepted(reply: string): void {
    if (/^[0-9a-f]{24}$/.test(reply)) this.accepted.push(reply);
  }

  #postStatus(): void {
    const draft = {
      caption: 'new',
      mediaUrl: undefined,
      mediaType: 'image' as const,
      idempotencyKey: undefined,
      requestId: 'test',
    };
    const reply = this.shop.command({ type: 'post_status', draft, settings }) as {
      ok: boolean;
      value?: { accepted: { id: string } };
    };
    if (reply.value) this.#accepted(reply.value.accepted.id);
  }

  #carry(): void {
    const [sample] = this.shop.bodies.values();
    if (sample === undefined || sample.kind === 'status') return;
    const id = `65f00000000000000${String(1_000_000 + this.#number)}`;
    const createdAtMs = this.shop.nowMs - MINUTE_MS * (this.#number % 9);
    const body = { ...sample, ...poolShop(0), id, to: `+3361${1_000_000 + this.#number}`, createdAtMs };
    const command = { type: 'pool.take', body, isTaken: false, settings, isPoolOpen: true } as const;
    const answer = this.shop.command(command, { record: undefined, writer: undefined });
    if ((answer as { kind: string }).kind === 'taken') this.#accepted(id);
  }

  check(): void {
    const { shop } = this;
    const { state } = shop;
    for (const effect of shop.effects.slice(this.#effects)) {
      if (effect.type === 'transmit') {
        const { messageId } = effect;
        if (messageId === this.#onWire) {
          assert.ok(this.#wroteBeforeRepeat !== undefined, 'sent once more only for a session that asks');
          assert.notEqual(this.#wroteBeforeRepeat, 'STOP');
          continue;
        }
        assert.equal(this.#onWire, undefined, 'one at a time');
        assert.ok(!this.ended.has(messageId), 'nothing that ended is sent');
        assert.ok(!this.#given.has(messageId), 'nothing is sent that may have been sent');
        this.#given.add(messageId);
        assert.ok(shop.nowMs - this.#wireFreeAtMs >= 6_000, 'a gap');
        assert.ok(shop.nowMs >= this.#pausedUntilMs, 'a pause');
        assert.equal(channelState(state), 'connected');
        this.#onWire = messageId;
      }
    }
    this.#effects = shop.effects.length;
    this.#wroteBeforeRepeat = undefined;
    for (const id of this.accepted) {
      const status = shop.statusOf(id);
      const before = this.ended.get(id);
      if (before !== undefined) assert.equal(status, before, 'an end is for good');
      else if (!/^(queued|sending)$/.test(status)) this.ended.set(id, status);
    }
    if (pacingState(state) !== 'sending') this.#freeWire();
    const openIds = this.accepted.filter((id) => !this.ended.has(id)).sort();
    const heldMessages = [...state.queue, ...(state.currentMessage ? [state.currentMessage] : [])];
    assert.deepEqual(
      heldMessages.map(({ messageId }) => messageId).sort(),
      openIds,
      'what has not ended waits or is in progress',
    );
    const isBusy = ['preparing', 'sending'].includes(pacingState(state));
    assert.equal(
      state.currentMessage?.messageId,
      isBusy ? state.pacing.context.currentMessage?.messageId : undefined,
    );
    assert.equal(state.currentMessage !== undefined, isBusy);
    if (state.channel.context.flagged) assert.equal(state.queue.length, 0, 'a lost session leaves no queue');
    const ages = state.queue.map(({ createdAtMs }) => createdAtMs);
    assert.deepEqual(
      ages,
      ages.toSorted((left, right) => left - right),
    );
    for (const { createdAtMs } of state.queue)
      assert.ok(shop.nowMs < createdAtMs + 24 * HOUR_MS, 'nothing waits over a day');
    const next = state.queue.find(({ to }) => to !== GROUP_ID || liveGroups(state) !== undefined);
    const isFree =
      state.isDispatching && channelState(state) === 'connected' && pacingState(state) === 'idle';
    if (isFree && !state.pacing.context.heldByOperator)
      assert.equal(next, undefined, 'nothing waits for nothing');
  }
}

test('every message is on the wire once at most, one at a time, and has ended after a day', async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 40, maxLength: 120, size: 'max' }), async (history) => {
      const life = new Life(await ShopHarness.connected());
      life.take({ kind: 'groups' });
      for (const [index, step] of history.entries()) {
        try {
          life.take(step);
        } catch (error) {
          throw new Error(`after ${JSON.stringify(history.slice(0, index + 1))}`, { cause: error });
        }
      }
      for (let hour = 0; hour < 25; hour += 1) life.shop.pass(HOUR_MS);
      life.check();
      assert.equal(life.ended.size, life.accepted.length);
    }),
    propertyRuns(context, 400),
  );
});
