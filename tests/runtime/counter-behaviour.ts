import { type Address, shardKey, shardOf } from '../../runtime/address.ts';
import type { Behaviour, DeactivationReason, RuntimeCommand, Turn } from '../../runtime/behaviour.ts';
import type { Write } from '../../runtime/store.ts';

/** The state of a counter of the tests. */
export interface CounterState {
  readonly total: number;
  readonly live: boolean;
  /** The time of its next timer, or `undefined` if there is none. */
  readonly wakeAtMs: number | undefined;
}

/** The commands of a counter. Some of them exist only to break it. */
export type CounterCommand =
  | { readonly type: 'add'; readonly by: number; readonly id?: string }
  | { readonly type: 'read' }
  | { readonly type: 'live'; readonly on: boolean }
  | { readonly type: 'wake'; readonly atMs: number }
  | { readonly type: 'throw' }
  | { readonly type: 'event'; readonly does: 'add' | 'throw' }
  | { readonly type: 'wrong_type' }
  | RuntimeCommand;

/** An effect names the total that it follows. */
export interface CounterEffect {
  readonly total: number;
  readonly id: string | undefined;
}

/** Hooks with which a test observes or steers a counter. */
export interface CounterHooks {
  readonly performed?: (effect: CounterEffect, address: Address) => void;
  readonly deactivated?: (address: Address, reason: DeactivationReason) => void;
  readonly activated?: (address: Address, cause: 'activation' | 'crash' | undefined) => void;
  readonly drained?: (address: Address) => void;
  readonly timer?: (id: string, nowMs: number) => void;
  readonly settled?: (state: CounterState) => boolean;
  /** Runs before each load. If it throws, the load fails. */
  readonly loading?: () => void;
  /** Runs before the state returns its timers, and before it decides whether it must live. */
  readonly timers?: (state: CounterState) => void;
  readonly mustLive?: (state: CounterState) => void;
  /** Runs before each turn. The turn waits for its promise. */
  readonly readingFacts?: (command: CounterCommand) => Promise<void> | undefined;
  readonly recover?: boolean;
  /** True for a command whose type the program does not know. */
  readonly isUnknown?: (command: CounterCommand) => boolean;
  /** Returns the writes for a counter that waits for an operator. */
  readonly suspended?: (sinceMs: number, nowMs: number) => Promise<readonly Write[]>;
}

/** Returns the address of a counter. Every counter exists. */
export function counterAddress(id: string): Address {
  return { shard: shardOf(id), kind: 'counter', id };
}

/** Returns the key of a counter's total. */
export function counterKey(id: string): string {
  return shardKey(shardOf(id), 'counter', id);
}

/** An actor that counts, with a hook at each point where the runtime calls it. */
export function counterBehaviour(
  hooks: CounterHooks = {},
): Behaviour<CounterState, CounterCommand, CounterEffect> {
  const changed = (
    state: CounterState,
    address: Address,
    change: Partial<CounterState>,
    id?: string,
  ): Turn<CounterState, CounterEffect> => {
    const next = { ...state, ...change };
    return {
      state: next,
      writes: [
        [
          'HSET',
          counterKey(address.id),
          'total',
          next.total,
          'live',
          next.live ? 1 : 0,
          'wakeAtMs',
          next.wakeAtMs ?? '',
        ],
      ],
      effects: [{ total: next.total, id }],
      reply: next.total,
    };
  };
  return {
    kind: 'counter',
    async load(address, store) {
      hooks.loading?.();
      const [fields] = await store.read([['HMGET', counterKey(address.id), 'total', 'live', 'wakeAtMs']]);
      const [total, live, wakeAtMs] = fields as (string | null)[];
      if (address.id.startsWith('nobody')) return undefined;
      return {
        total: Number(total ?? 0),
        live: live === '1',
        wakeAtMs: wakeAtMs ? Number(wakeAtMs) : undefined,
      };
    },
    readFacts: (_state, command) => hooks.readingFacts?.(command) as undefined,
    turn(state, command, { address, nowMs }) {
      switch (command.type) {
        case 'add':
          return changed(state, address, { total: state.total + command.by }, command.id);
        case 'read':
          return { reply: state.total };
        case 'live':
          return changed(state, address, { live: command.on });
        case 'wake':
          return changed(state, address, { wakeAtMs: command.atMs });
        case 'timer':
          hooks.timer?.(command.id, nowMs);
          return changed(state, address, { wakeAtMs: undefined });
        case 'event':
          if (command.does === 'throw') throw new Error('poisoned event');
          return changed(state, address, { total: state.total + 1 });
        case 'throw':
          throw new Error('poison');
        case 'wrong_type':
          return { state: { ...state, total: -1 }, writes: [['SADD', counterKey(address.id), 'no set']] };
      }
    },
    recover: (state, _command, { address }) =>
      hooks.recover ? changed(state, address, { total: state.total + 1_000 }) : undefined,
    lane(command) {
      if (hooks.isUnknown?.(command)) return undefined as never;
      return command.type === 'timer' || command.type === 'event' ? 'control' : 'client';
    },
    size: () => 100,
    perform: (effect, address) => hooks.performed?.(effect, address),
    timers(state) {
      hooks.timers?.(state);
      return state.wakeAtMs === undefined ? [] : [{ id: 'wake', dueAtMs: state.wakeAtMs }];
    },
    mustLive(state) {
      hooks.mustLive?.(state);
      return state.live;
    },
    activated(_state, { address, cause }) {
      hooks.activated?.(address, cause);
      return {};
    },
    ...(hooks.suspended === undefined
      ? {}
      : {
          async suspended(_address, { sinceMs, nowMs }) {
            const writes = (await hooks.suspended?.(sinceMs, nowMs)) ?? [];
            return { writes, effects: [{ total: writes.length, id: 'suspended' }] };
          },
        }),
    draining(_state, { address }) {
      hooks.drained?.(address);
      return {};
    },
    settled: (state) => hooks.settled?.(state) ?? true,
    deactivated: (_state, address, reason) => hooks.deactivated?.(address, reason),
    describe: (state) => ({ total: state.total }),
  };
}
