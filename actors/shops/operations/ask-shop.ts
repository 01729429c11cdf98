import type { Actors } from '../../../runtime/actors.ts';
import { type FailureCode, failed, type Outcome } from '../../failure.ts';
import type { CommandOf } from '../protocol/shop-commands.ts';
import type { ShopReplies } from '../protocol/shop-replies.ts';
import { shopAddress } from '../records/shop-keys.ts';
import type { ShopOutcome, ShopReference } from '../shop-operations.ts';
import { committedShop } from '../state/committed-shop.ts';
import type { ShopState } from '../state/shop-state.ts';

/** The reply for a shop that does not exist. */
export const NO_SHOP = failed('SHOP_NOT_FOUND');

/** Gives a command to a shop's actor, and returns the reply of its turn. */
export function askShop<Type extends keyof ShopReplies>(
  actors: Pick<Actors, 'ask'>,
  shop: ShopReference,
  command: CommandOf<Type>,
): Promise<ShopReplies[Type] | typeof NO_SHOP> {
  return actors.ask<ShopReplies[Type] | typeof NO_SHOP>(shopAddress(shop), command, NO_SHOP);
}

/** Answers from the last committed state of a shop. */
export async function fromShop<Value, Code extends FailureCode = never>(
  actors: Pick<Actors, 'state'>,
  shop: ShopReference,
  answer: (state: ShopState) => Promise<Outcome<Value, Code>> | Outcome<Value, Code>,
): Promise<ShopOutcome<Value, Code>> {
  const state = await committedShop(actors, shopAddress(shop));
  return state === undefined ? NO_SHOP : answer(state);
}
