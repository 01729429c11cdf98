/** Promises of the runtime and of the tenants' events. `npm run breakages` breaks each one. */
import type { Breakage } from './broken-runtime.ts';

/** A promise, how it is broken, and the test file that must go red. */
export interface Case extends Breakage {
  readonly promise: string;
  readonly noticedBy: string;
}

const supervision = 'actor/supervision.test.ts';
const one = 'one-redis-node.test.ts';
const several = 'several-redis-nodes.test.ts';
const actors = 'actors.test.ts';

export const cases: readonly Case[] = [
  {
    promise: 'nodes start also when Redis is full',
    file: 'redis/register-node.lua',
    edits: [['#!lua flags=allow-oom', '#!lua']],
    noticedBy: one,
  },
  {
    promise: 'a shard is given to who knows its epoch, and to nobody else',
    file: 'redis/change-owner.lua',
    edits: [['if epoch ~= ARGV[1] then', 'if tonumber(epoch) > tonumber(ARGV[1]) + 1 then']],
    noticedBy: one,
  },
  {
    promise: 'shards change hands also when Redis is full',
    file: 'redis/change-owner.lua',
    edits: [['#!lua flags=allow-oom', '#!lua']],
    noticedBy: one,
  },
  {
    promise: 'a failover that lost acknowledged writes is noticed without a write',
    file: 'ownership/ownership.ts',
    edits: [
      [
        '      for (const shard of this.#held.shardsWithOtherRecord(quietShards, records))\n        this.#settlement.lose(shard, records[shard.number]);\n',
        '',
      ],
    ],
    noticedBy: 'failover.test.ts',
  },
  {
    promise: 'a Redis that drops data is refused',
    file: 'redis/redis-engine.ts',
    edits: [['refuseUnsafe(await engine.#askServers());', 'await engine.#askServers();']],
    noticedBy: 'store-assumptions.test.ts',
  },
  {
    promise: 'what is assumed of Redis is looked at while a node runs',
    file: 'redis/redis-engine.ts',
    edits: [['    this.#assumptions.see(servers);\n', '']],
    noticedBy: 'store-assumptions.test.ts',
  },
  {
    promise: 'clients are refused before a master of a cluster is full',
    file: 'redis/redis-connection.ts',
    edits: [["this.client.nodes('master').map(", "this.client.nodes('master').slice(0, 1).map("]],
    noticedBy: 'store-assumptions.test.ts',
  },
  {
    promise: 'a failover that keeps connections open is found out',
    file: 'redis/lost-master.ts',
    edits: [['    this.#reconnect();\n', '']],
    noticedBy: 'failover.test.ts',
  },
  {
    promise: 'after a failover that keeps connections open the nodes hear each other',
    file: 'redis/redis-engine.ts',
    edits: [['[this.#commits, this.#data, this.#bus]', '[this.#commits, this.#data]']],
    noticedBy: 'failover.test.ts',
  },
  {
    promise: 'writes to a key keep their order, also where they share a command',
    file: 'redis/section-layout.ts',
    edits: [
      ["if (write[0] !== 'HSET' || room < 0) hashKey = undefined;", 'if (room < 0) hashKey = undefined;'],
    ],
    noticedBy: 'redis/section-layout.test.ts',
  },
  {
    promise: 'what is remembered of a hash’s fields is forgotten when one of them is written',
    file: 'ownership/collection-memory.ts',
    edits: [['      if (name !== undefined) this.#forgetTogether(name);\n', '']],
    noticedBy: 'ownership/collection-memory.test.ts',
  },
  {
    promise: 'a group of commits that was applied without an answer counts',
    file: 'ownership/group-commit.ts',
    edits: [['const isApplied = record.revision > shard.record.revision;', 'const isApplied = false;']],
    noticedBy: one,
  },
  {
    promise: 'a group of commits that was never applied does not count',
    file: 'ownership/group-commit.ts',
    edits: [['const isApplied = record.revision > shard.record.revision;', 'const isApplied = true;']],
    noticedBy: supervision,
  },
  {
    promise: 'a process that starts under a name supersedes the one before',
    file: 'redis/register-node.lua',
    edits: [["'PX', leaseMs)", "'PX', leaseMs, 'NX')"]],
    noticedBy: one,
  },
  {
    promise: 'a lease that has ended is never revived',
    file: 'redis/renew-lease.lua',
    edits: [["if redis.call('GET', KEYS[1]) ~= ARGV[1] then", 'if false then']],
    noticedBy: one,
  },
  {
    promise: 'a lease that is granted after it was given up is none',
    file: 'ownership/lease.ts',
    edits: [['if (this.#incarnation !== incarnation) return;\n    this.#extend', 'this.#extend']],
    noticedBy: 'lost-lease.test.ts',
  },
  {
    promise: 'the shards of a silent node are taken over',
    file: 'ownership/fair-share.ts',
    edits: [['(!alive.has(owner) && !isInGrace)', 'false']],
    noticedBy: several,
  },
  {
    promise: 'after an outage the first node back waits for the others',
    file: 'ownership/fair-share.ts',
    edits: [['(!alive.has(owner) && !isInGrace)', '!alive.has(owner)']],
    noticedBy: several,
  },
  {
    promise: 'a shard resumes only once its owner is known',
    file: 'ownership/held-shards.ts',
    edits: [['if (!shard.isOwnerUnknown) this.onOwnerConfirmed(shard);', 'this.onOwnerConfirmed(shard);']],
    noticedBy: 'lost-lease.test.ts',
  },
  {
    promise: 'a shard claimed under a lease that is over is claimed once more',
    file: 'ownership/ownership.ts',
    edits: [
      ['this.#isStopping || !this.lease.holds()) return;\n    const', 'this.#isStopping) return;\n    const'],
    ],
    noticedBy: 'lost-lease.test.ts',
  },
  {
    promise: 'a node whose clock is off owns nothing',
    file: 'ownership/ownership.ts',
    edits: [['if (await this.#standsAside(nodes)) return;', '']],
    noticedBy: 'clocks.test.ts',
  },
  {
    promise: 'no node stops for a name that it asked for itself',
    file: 'ownership/membership.ts',
    edits: [['!this.isOurs(node.incarnation)', 'node.incarnation !== this.incarnation']],
    noticedBy: 'clocks.test.ts',
  },
  {
    promise: 'no turn is told a time ahead of that of Redis',
    file: 'ownership/agreed-clock.ts',
    edits: [['return agrees ? wallMs : Math.min(wallMs, redisMs);', 'return wallMs;']],
    noticedBy: 'clocks.test.ts',
  },
  {
    promise: 'a shard whose stored time lies far ahead goes on at the present time',
    file: 'ownership/ownership.ts',
    edits: [['for (const shard of shardsAhead) shard.startOver(clock);', '']],
    noticedBy: 'clocks.test.ts',
  },
  {
    promise: 'nothing stays noted of an erased actor',
    file: 'actor/shard-marks.ts',
    edits: [['    this.resume(shard, text);\n', '']],
    noticedBy: supervision,
  },
  {
    promise: 'that commits are taken again is said when one was',
    file: 'redis/redis-engine.ts',
    edits: [
      [
        'if (refusal !== undefined) this.#trouble.noteRefused(part, refusal);',
        'if (refusal !== undefined) this.#trouble.noteRefused(part, refusal);\n      else this.#trouble.noteAccepted(part);',
      ],
    ],
    noticedBy: one,
  },
  {
    promise: 'shards spread evenly',
    file: 'ownership/fair-share.ts',
    edits: [['const surplusCount = Math.max(0, held.size - quota);', 'const surplusCount = 0;']],
    noticedBy: 'ownership/fair-share.test.ts',
  },
  {
    promise: 'few tenants spread evenly when a node joins',
    file: 'ownership/fair-share.ts',
    edits: [['record.revision > 0', 'record.revision < 0']],
    noticedBy: 'ownership/fair-share.test.ts',
  },
  {
    promise: 'a hand-over settles what is in progress',
    file: 'ownership/vacate-shard.ts',
    edits: [['  await waitAtMost(clock, limits.settleMs, whenSettled(shard));\n', '']],
    noticedBy: several,
  },
  {
    promise: 'data that went back in time is noticed',
    file: 'ownership/shard-settlement.ts',
    edits: [['return actual.revision < known.revision || actual.epoch < known.epoch;', 'return false;']],
    noticedBy: one,
  },
  {
    promise: 'clients are refused before Redis is full',
    file: 'node/node.ts',
    edits: [['memoryUse >= limits.memoryShare', 'false']],
    noticedBy: supervision,
  },
  {
    promise: 'turns of one tick share one call',
    file: 'limits.ts',
    edits: [['groupTurns: 512', 'groupTurns: 1']],
    noticedBy: one,
  },
  {
    promise: 'a crash too often suspends',
    file: 'actor/supervision.ts',
    edits: [['if (crashes <= limits.restartIntensity) {', 'if (crashes > 0) {']],
    noticedBy: supervision,
  },
  {
    promise: 'restarts back off',
    file: 'actor/supervision.ts',
    edits: [['limits.backoffMs * 2 ** (crashes - 1)', 'limits.backoffMs']],
    noticedBy: supervision,
  },
  {
    promise: 'a mailbox is bounded by count',
    file: 'actor/mailbox.ts',
    edits: [['this.#client.length >= mailboxCount ||', '']],
    noticedBy: actors,
  },
  {
    promise: 'a mailbox is bounded by bytes',
    file: 'actor/mailbox.ts',
    edits: [['this.#clientBytes + envelope.bytes > mailboxBytes ||', '']],
    noticedBy: actors,
  },
  {
    promise: 'a mailbox is bounded by age',
    file: 'actor/mailbox.ts',
    edits: [['nowMs - client.queuedAtMs <= this.#limits.mailboxAgeMs', 'true']],
    noticedBy: actors,
  },
  {
    promise: 'a full mailbox refuses no control command',
    file: 'actor/mailbox.ts',
    edits: [["if (envelope.lane === 'control') {", "if (envelope.lane === 'control' && this.depth === 0) {"]],
    noticedBy: actors,
  },
  {
    promise: 'time never runs behind the last commit',
    file: 'ownership/owned-shard.ts',
    edits: [['if (wallMs > this.latestMs) this.latestMs', 'this.latestMs']],
    noticedBy: actors,
  },
  {
    promise: 'idle actors leave memory',
    file: 'actor/actor.ts',
    edits: [['idleMs >= this.#surroundings.limits.passivateAfterMs', 'idleMs < 0']],
    noticedBy: actors,
  },
  {
    promise: 'actors that must live come back staggered',
    file: 'actor/awakening.ts',
    edits: [['this.#queue.slice(0, awakenPerStep)', 'this.#queue.slice(0)']],
    noticedBy: actors,
  },
  {
    promise: 'a dead line that only listens is found out',
    file: 'redis/redis-bus.ts',
    edits: [['void Promise.allSettled([client.ping()]);', '']],
    noticedBy: 'redis/redis-bus.test.ts',
  },
  {
    promise: 'a request of another node is carried out once',
    file: 'node/node-link.ts',
    edits: [['if (this.#askedOnce.isFirst(question.from, Number(question.id)))', 'if (true)']],
    noticedBy: 'node/sealed-link.test.ts',
  },
  {
    promise: 'an answer of another node counts for its own request alone',
    file: 'node/node-link.ts',
    edits: [
      ['.seal(useOf(verb, question), text)', ".seal(useOf(verb, { ...question, id: '1' }), text)"],
      [
        'cipher.open(useOf(verb, question), sealedText)',
        "cipher.open(useOf(verb, { ...question, id: '1' }), sealedText)",
      ],
    ],
    noticedBy: 'node/sealed-link.test.ts',
  },
  {
    promise: 'a node leaves the channels of its former names',
    file: 'node/node-link.ts',
    edits: [['names.slice(0, -2).filter(', 'names.slice(0, 0).filter(']],
    noticedBy: 'node/link-names.test.ts',
  },
  {
    promise: 'a node keeps the channel of a former name while a reply is awaited there',
    file: 'node/node-link.ts',
    edits: [['.filter((name) => !awaited.has(name))', '']],
    noticedBy: 'node/link-names.test.ts',
  },
  {
    promise: 'nothing begins on a shard after the fence refused one of its turns',
    file: 'actor/turn-cycle.ts',
    edits: [
      [
        'envelope.asker?.reject(movedAwayFailure());\n        return;',
        'envelope.asker?.reject(movedAwayFailure());\n        break;',
      ],
    ],
    noticedBy: 'fence-refusal.test.ts',
  },
  {
    promise: 'everybody who waits for the end of a turn is told',
    file: 'actor/waiters.ts',
    edits: [['this.#waiters.splice(0)', 'this.#waiters.splice(0).slice(-1)']],
    noticedBy: 'actor/operator-restart.test.ts',
  },
  {
    promise: 'a restart brings nothing back that was stopped meanwhile',
    file: 'actor/actor.ts',
    edits: [["if (this.#status !== 'restarting') return;", '']],
    noticedBy: 'actor/operator-restart.test.ts',
  },
  {
    promise: 'a state whose timers cannot be told is a crash',
    file: 'actor/actor.ts',
    edits: [
      ['this.#crashedAlone(error);\n      return;\n    }\n    // Goes', 'throw error;\n    }\n    // Goes'],
    ],
    noticedBy: supervision,
  },
  {
    promise: 'what an actor holds on a node is freed after a crash as well',
    file: 'actor/actor-resources.ts',
    edits: [["reason === 'reloaded' ? undefined : keptState", 'undefined']],
    noticedBy: supervision,
  },
  {
    promise: 'nothing takes effect when the lease has ended',
    file: 'actor/turn-cycle.ts',
    edits: [['if (!mayAct(this.#shard)) {', 'if (false) {']],
    noticedBy: 'simulation.test.ts',
  },
  {
    promise: 'a command is decided at once only when no turn is under way',
    file: 'actor/dispatcher.ts',
    edits: [
      [
        'if (!this.#isFree || this.#isPumping || !this.#mailbox.passes(envelope)) return false;',
        'if (!this.#actor.isReady || !this.#mailbox.passes(envelope)) return false;',
      ],
    ],
    noticedBy: 'simulation.test.ts',
  },
  {
    promise: 'nobody is answered before the commit',
    file: 'actor/turn-cycle.ts',
    edits: [
      [
        '    else commits.add(this.#shard, this);\n',
        '    else commits.add(this.#shard, this);\n    this.#current?.asker?.resolve(this.#turn?.reply);\n',
      ],
    ],
    noticedBy: 'simulation.test.ts',
  },
  {
    promise: 'an event gets its id as its commit is applied, not when its turn decides',
    layer: 'actors',
    file: 'tenants/stored-events/tenant-event.ts',
    noticedBy: 'events/event-order.test.ts',
    edits: [
      ['({ type, shopId, subject }): Write => [', '({ type, shopId, subject }, index): Write => ['],
      ["maxEntries, '*'] as const)", "maxEntries, [nowMs, index].join('-')] as const)"],
    ],
  },
  {
    promise: 'the event of an end is of the commit that makes it true',
    layer: 'actors',
    file: 'shops/turns/builder/turn-builder.ts',
    noticedBy: 'shops/builder/shop-events.test.ts',
    edits: [
      [
        '    this.write(...eventWrites(this.#state.shop.tenantId, events, eventOptions));\n',
        '    eventWrites(this.#state.shop.tenantId, events, eventOptions);\n',
      ],
    ],
  },
];
