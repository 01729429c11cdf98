/** Replies about shops and their channels (docs/contract.md, Resources). */
import * as v from 'valibot';
import { CHANNEL_REASONS } from '../channel-reason.ts';
import { CHANNEL_STATUSES } from '../channel-status.ts';
import { count, id, instant, integer } from './reply-fields.ts';

/** The state of a shop's channel. */
export const channelStatus = v.picklist(CHANNEL_STATUSES);

export const shop = v.strictObject({
  id,
  name: v.string(),
  phone: v.nullable(v.string()),
  channelStatus: v.strictObject({ msgapp: v.nullable(channelStatus) }),
  createdAt: instant,
});

/** Why a channel has no session. */
export const trouble = {
  reason: v.exactOptional(
    v.pipe(
      v.picklist(CHANNEL_REASONS),
      v.description(
        'The reason why there is no session, if you can do something about it or should know. More values may be added.',
      ),
    ),
  ),
  networkCode: v.exactOptional(
    v.pipe(integer, v.description("The chat network's own code, if it refused the number or its login.")),
  ),
  bannedUntil: v.exactOptional(
    v.pipe(instant, v.description('The end of a temporary ban. The shop then reconnects by itself.')),
  ),
};

/** The connection of a shop's channel. */
export const channel = v.strictObject({
  status: channelStatus,
  channelConfigId: v.nullable(id),
  qr: v.exactOptional(v.string()),
  qrImageDataUrl: v.exactOptional(v.string()),
  code: v.exactOptional(
    v.pipe(
      v.string(),
      v.description(
        'The code to type on the phone. Present while it can be used; `status` is then `starting`.',
      ),
    ),
  ),
  expiresAt: v.exactOptional(instant),
  pollAfterMs: v.exactOptional(integer),
  phone: v.exactOptional(v.string()),
  ...trouble,
});

export const group = v.strictObject({
  id: v.string(),
  name: v.string(),
  participantCount: count,
  isAdmin: v.boolean(),
  announce: v.boolean(),
  canSend: v.boolean(),
});
