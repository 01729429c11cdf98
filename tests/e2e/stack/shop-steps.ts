import { MINUTE_MS } from '../../../runtime/durations.ts';
import type { SimulatorControl } from '../../testbed/simulator-control.ts';
import { until } from '../../testbed/waiting.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';

/** A tenant's way into the service, and the phones of the network. */
export interface ShopSurroundings {
  readonly api: ApiClient;
  readonly network: SimulatorControl;
}

/**
 * Asks until the answer is no 503. A node gives one if a busy machine holds up its commits for a second. Rejects if the
 * answer is another error.
 */
export async function untilTaken(ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  const answer = await until('a call is taken', async () => {
    const latestAnswer = await ask();
    return latestAnswer.status !== 503 && latestAnswer;
  });
  if (answer.error !== undefined) throw new Error(`refused: ${JSON.stringify(answer.error)}`);
  return answer;
}

/** Connects a shop: asks for a code, scans it with the phone, polls until connected. */
export async function connectShop(stack: ShopSurroundings, shopId: string, phone: string): Promise<void> {
  const path = `/shops/${shopId}/channels/msgapp/connect`;
  await untilTaken(() => stack.api.post(path));
  const qr = await until('a QR code is shown', async () => {
    const poll = await stack.api.get(path);
    return poll.data.status === 'qr_waiting' && (poll.data.qr as string | undefined);
  });
  await stack.network.scan(qr, phone);
  await until('the shop is connected', async () => (await stack.api.get(path)).data.status === 'connected');
}

/** Sends a text to a number. */
export function sendText(
  stack: Pick<ShopSurroundings, 'api'>,
  shopId: string,
  message: { readonly to: string; readonly text: string; readonly idempotencyKey?: string },
): Promise<ApiAnswer> {
  const { to, text, idempotencyKey } = message;
  const body = { channel: 'msgapp', to, text, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) };
  return stack.api.post(`/shops/${shopId}/messages`, body);
}

/** Waits until a message is sent, failed or rejected; its record then. */
export function untilEnded(
  stack: Pick<ShopSurroundings, 'api'>,
  messageId: string,
): Promise<Readonly<Record<string, unknown>>> {
  return until(
    `message ${messageId} ends`,
    async () => {
      const { data } = await stack.api.get(`/messages/${messageId}`);
      return ['sent', 'failed', 'rejected'].includes(String(data.status)) && data;
    },
    { withinMs: MINUTE_MS },
  );
}

/** Waits until a message ends, which must be with this status; its record then. */
export async function untilStatus(
  stack: Pick<ShopSurroundings, 'api'>,
  messageId: string,
  status: 'sent' | 'failed' | 'rejected',
): Promise<Readonly<Record<string, unknown>>> {
  const record = await untilEnded(stack, messageId);
  if (record.status !== status) throw new Error(`the message ended ${record.status} ${record.reason}`);
  return record;
}

/** Sends a text that must be accepted. Returns the message's id. */
export async function acceptedText(...call: Parameters<typeof sendText>): Promise<string> {
  const { status, error, data } = await sendText(...call);
  if (status !== 202) throw new Error(`a text was answered ${status} ${JSON.stringify(error)}`);
  return String(data.id);
}

/** Sends a text that must be accepted, and waits until it is sent. Returns the message's id. */
export async function sentText(...call: Parameters<typeof sendText>): Promise<string> {
  const id = await acceptedText(...call);
  await untilStatus(call[0], id, 'sent');
  return id;
}

/** Waits until a shop is connected. */
export async function untilConnected(
  { api }: Pick<ShopSurroundings, 'api'>,
  shopId: string,
  options?: { readonly withinMs: number },
): Promise<void> {
  const status = async () => (await api.get(`/shops/${shopId}/channels/msgapp`)).data.status;
  await until(`shop ${shopId} is connected`, async () => (await status()) === 'connected', options);
}
