import * as v from 'valibot';
import { mapOutcome } from '../../actors/failure.ts';
import { shopPolicy } from '../../actors/reply-schemas/message-schemas.ts';
import type { SendForecast, ShopPolicyView } from '../../actors/shops/shop-operations.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { ERRORS, retryAfterSeconds } from '../contract/errors.ts';
import { recipient } from '../contract/fields.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

export const readPolicy = apiEndpoint({
  name: 'readPolicy',
  method: 'GET',
  path: '/shops/{idOrName}/policy',
  tag: 'Messages',
  summary: 'Read how much the shop may still send, and whether a message to one recipient would be accepted',
  description:
    "Counts no send. Asks the chat network only for a group that the session does not know. With `to` the reply also has `recipientClass`, `wouldAllow`, `code` and `retryAfter`: the result that a message with a new text would have now. While the shop has no session, the result is the channel's. The shared pool is not asked.",
  permission: 'messages.read',
  query: { to: v.optional(recipient) },
  replies: {
    200: { description: 'The current policy.', data: shopPolicy, example: EXAMPLES.shopPolicy },
  },
  errors: NAMED_SHOP_ERRORS,
  handle: (request) =>
    withShop(request, async (shop) =>
      mapOutcome(await request.services.shops.policy(shop, request.query.to), policyReply),
    ),
});

function policyReply({ forecast, ...policy }: ShopPolicyView) {
  return forecast === undefined ? policy : { ...policy, ...forecastFields(forecast) };
}

/** Returns the code and the seconds that the send itself would show. */
function forecastFields({ recipientClass, failure }: SendForecast) {
  if (failure === undefined) return { recipientClass, wouldAllow: true, code: null, retryAfter: null };
  const { code } = ERRORS[failure.code];
  return { recipientClass, wouldAllow: false, code, retryAfter: retryAfterSeconds(failure) ?? null };
}
