// @ts-check
/** Explains each code of a refused call or a message that did not arrive, and what helps. */
import { ERROR_MESSAGES } from '/console/error-messages.js';

/**
 * @param {string} code of a refusal, or the reason of a message
 * @returns {string | undefined}
 */
export function meaningOf(code) {
  return MEANINGS[code] ?? ERROR_MESSAGES[code];
}

const MEANINGS = /** @type {Record<string, string>} */ ({
  API_KEY_MISSING: 'The caller sends no key.',
  API_KEY_INVALID: 'The caller sends an unknown key: mistyped, or of another installation.',
  API_KEY_REVOKED: 'The caller still uses a key that was revoked. Make a new key, or find who revoked it.',
  API_KEY_EXPIRED: 'The key has expired. Make a new one.',
  IP_NOT_ALLOWED: 'The call comes from an address that the key does not allow.',
  TENANT_INACTIVE: 'The tenant is inactive. Activate it on its page.',
  FORBIDDEN_PERMISSION: 'The key lacks the permission for this route.',
  RATE_LIMITED: 'The key calls more often than its limits allow.',
  QUOTA_EXCEEDED:
    'The calls or shops of the plan are used up. The count of calls starts at zero next month. A larger plan helps at once.',
  SHOP_NOT_FOUND: 'The call names a shop that the tenant does not have.',
  VALIDATION_ERROR: 'The call is malformed; its answer lists the fields.',
  RECIPIENT_OPTED_OUT: 'The recipient wrote STOP. Nothing goes to that number until it writes again.',
  RECIPIENT_RATE_LIMITED: 'This recipient got too many messages, or the last one too recently.',
  RECIPIENT_NOT_ON_MSGAPP: 'The number is not on the chat network.',
  DAILY_CAP_REACHED: 'The shop has sent as many messages as its warm-up allows in 24 hours.',
  HOURLY_CAP_REACHED: 'The shop has sent as many messages as its warm-up allows in an hour.',
  COLD_RECIPIENT_CAP_REACHED:
    'Too many strangers today (they never wrote, are not customers, did not consent), or the network stopped new chats.',
  DECLARED_RECIPIENT_CAP_REACHED:
    'The budget for declared recipients is used up for today, or the network stopped new chats.',
  COLD_RECIPIENT:
    'A batch does not write to strangers: people who never wrote, are not customers and did not consent.',
  GROUP_DAILY_CAP_REACHED: 'The budget for groups is used up for today.',
  GROUP_NOT_ADMINISTERED: 'The shop does not administer that group.',
  STATUSES_DAILY_CAP_REACHED: 'The shop has posted as many statuses as it may in 24 hours.',
  STATUS_NO_AUDIENCE: 'No one could see the status: the shop has no customers, writers or declared contacts.',
  BULK_PATTERN_BLOCKED: 'The same text, or attachment without a text, went to 20 numbers within an hour.',
  OVERLOADED: 'Too many calls at once: one client sends too fast, or Redis is slow.',
  SERVICE_UNAVAILABLE: 'Redis did not answer, or the tenant was moving to another node.',
  BOT_SERVICE_UNREACHABLE:
    'No session worker is available, or the shop or its tenant crashed too often and must be resumed.',
  BOT_RESTARTED:
    'A worker or node stopped while it sent this message. It is not sent again, because that could send it twice.',
  MSGAPP_NOT_CONFIGURED: 'The shop has no channel: no one has connected it yet.',
  MSGAPP_NOT_CONNECTED: 'The shop has no session. Connect it.',
  MSGAPP_SESSION_LOST:
    'The session was lost permanently. Connect the shop and let its phone scan a new code.',
  EGRESS_UNREACHABLE: 'The proxy makes no connection to the chat network. Nothing was changed.',
  MEDIA_UNAVAILABLE:
    'The attachment could not be fetched, has another type than the call said, or cannot be a status.',
  SEND_REFUSED: 'The chat network refused the message, or five attempts could not send it.',
  DELIVERY_UNKNOWN: 'The connection broke while it was sent: it may have arrived. It is not sent again.',
  CANCELLED: 'It was cancelled while it waited. Nothing was sent.',
  NOT_CANCELLABLE: 'It was already being sent, or had ended, so it could not be cancelled.',
  SCHEDULED_LIMIT_REACHED: 'The shop has 1,000 scheduled sends waiting.',
  BATCH_LIMIT_REACHED: 'The shop has 20 batches that have not ended.',
  EXPIRED: 'It waited for a day, or until the end of its batch.',
});
