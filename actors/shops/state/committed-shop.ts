import type { Actors } from '../../../runtime/actors.ts';
import type { Address } from '../../../runtime/address.ts';
import type { MaybePromise } from '../../../runtime/maybe-promise.ts';
import type { ShopState } from './shop-state.ts';

/** Returns a shop's last committed state (`Actors.state`). Undefined if there is no such shop. */
export function committedShop(
  actors: Pick<Actors, 'state'>,
  address: Address,
): MaybePromise<ShopState | undefined> {
  return actors.state<ShopState>(address);
}

/** Like `committedShop`, without waiting. Also undefined if the shop is not active on this node. */
export function activeShop(actors: Pick<Actors, 'peek'>, address: Address): ShopState | undefined {
  return actors.peek<ShopState>(address);
}
