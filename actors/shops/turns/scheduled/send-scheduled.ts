import type { Failed } from '../../../failure.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { SendReply } from '../../protocol/shop-replies.ts';
import type { SendFacts } from '../../reading/recipient-facts.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { type AcceptanceOptions, acceptMessage } from '../send/accept-message.ts';
import type { ScheduledFacts } from './scheduled-facts.ts';
import { onScheduledSend, scheduledObstacle } from './scheduled-turns.ts';

/** Makes a due send, and stores its end with the message. A repeated reply decides nothing. */
export function sendScheduled(
  builder: TurnBuilder,
  command: CommandOf<'send'>,
  facts: ScheduledFacts & { readonly send: SendFacts; readonly hasWorker: boolean },
  options: AcceptanceOptions,
): SendReply | Failed {
  const { scheduledId = '' } = command.draft;
  const obstacle = scheduledObstacle(builder, scheduledId);
  const reply = obstacle ?? acceptMessage(builder, command, facts, options);
  if ('ask' in reply) return reply;
  onScheduledSend(builder, facts.schedule, reply);
  return reply;
}
