import type { Actors } from '../../runtime/actors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { EGRESS_FORM, type EgressAddress, egressText, readEgressAddress } from '../egress-address.ts';
import { done, failed } from '../failure.ts';
import { Unreadable } from '../sessions/credential-cipher.ts';
import type { EgressVault, ShopEgress } from '../sessions/egress-vault.ts';
import type { SessionHost } from '../sessions/session-host.ts';
import { askShop } from '../shops/operations/ask-shop.ts';
import { shopAddress } from '../shops/records/shop-keys.ts';
import type { ShopReference } from '../shops/shop-operations.ts';
import { committedShop } from '../shops/state/committed-shop.ts';
import { withReplyTimeout } from '../with-reply-timeout.ts';
import type { EgressView, LookupOutcome } from './operator-operations.ts';

export interface EgressChangeOptions {
  readonly actors: Actors;
  readonly clock: Clock;
  readonly host: Pick<SessionHost, 'tryEgress'>;
  readonly egressVault: EgressVault;
}

/**
 * Sets the egress of an existing shop. A proxy is tested by a connection first. If the shop has that egress already,
 * its session continues.
 */
export async function changeEgress(
  options: EgressChangeOptions,
  shop: ShopReference,
  text: string | null,
): Promise<LookupOutcome<EgressView, 'VALIDATION_ERROR' | 'EGRESS_UNREACHABLE'>> {
  const { actors, host, egressVault } = options;
  const state = await committedShop(actors, shopAddress(shop));
  if (state === undefined) return failed('NOT_FOUND');
  if (text === null) {
    if (state.egress !== undefined) await store(options, shop, undefined);
    return done({ id: shop.shopId, egress: null });
  }
  const address = readEgressAddress(text);
  if (address === undefined)
    return failed('VALIDATION_ERROR', { fields: [{ field: 'egress', message: EGRESS_FORM }] });
  const problem = await host.tryEgress(address);
  if (problem !== undefined) {
    return failed('EGRESS_UNREACHABLE', {
      fields: [{ field: 'egress', message: problem.replace(/^the egress /, '') }],
    });
  }
  const egress = egressVault.seal(shop, address);
  if (!isSame(egressVault, { shop, egress: state.egress, address })) await store(options, shop, egress);
  return done({ id: shop.shopId, egress: egress.shown });
}

async function store(
  { actors, clock }: EgressChangeOptions,
  shop: ShopReference,
  egress: ShopEgress | undefined,
): Promise<void> {
  await withReplyTimeout(clock, askShop(actors, shop, { type: 'set_egress', egress }));
}

function isSame(
  egressVault: EgressVault,
  sources: {
    readonly shop: ShopReference;
    readonly egress: ShopEgress | undefined;
    readonly address: EgressAddress;
  },
): boolean {
  const { shop, egress, address } = sources;
  if (egress === undefined) return false;
  try {
    return egressText(egressVault.open(shop, egress.sealed)) === egressText(address);
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}
