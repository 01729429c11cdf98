import * as v from 'valibot';
import { mapOutcome } from '../../actors/failure.ts';
import { group } from '../../actors/reply-schemas/shop-schemas.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { booleanParameter, integerParameter } from '../contract/query-parameters.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

export const listGroups = apiEndpoint({
  name: 'listGroups',
  method: 'GET',
  path: '/shops/{idOrName}/groups',
  tag: 'Groups',
  summary: "List the shop's chat groups",
  description:
    'All groups that match, on one page. The session first asks the chat network for changes, for up to 1.5 s. `canSend` is advisory; the send policy is authoritative.',
  permission: 'groups.read',
  query: {
    canSend: v.optional(booleanParameter),
    minParticipants: v.optional(integerParameter({ min: 0 })),
    q: v.optional(
      v.pipe(v.string(), v.description('A part of the name. Upper and lower case do not matter.')),
    ),
  },
  replies: {
    200: {
      description: 'The groups.',
      data: cursorPage(group),
      example: { items: [EXAMPLES.group], nextCursor: null },
    },
  },
  errors: [...NAMED_SHOP_ERRORS, 'MSGAPP_NOT_CONNECTED', 'MSGAPP_SESSION_LOST'],
  handle: (request) =>
    withShop(request, async (shop) => {
      const { canSend, minParticipants = 0, q } = request.query;
      const part = q?.toLowerCase();
      return mapOutcome(await request.services.shops.groups(shop), (groups) => {
        const items = groups.filter(
          (item) =>
            (canSend === undefined || item.canSend === canSend) &&
            item.participantCount >= minParticipants &&
            (part === undefined || item.name.toLowerCase().includes(part)),
        );
        return { items, nextCursor: null };
      });
    }),
});
