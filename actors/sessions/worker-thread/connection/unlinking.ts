import type { WASocket } from '@whiskeysockets/baileys';
import type { Clock } from '../../../../runtime/clock.ts';

/** How long the network may take to be notified that this device is unlinked. */
const UNLINK_MS = 5_000;

/**
 * Notifies the network that this device is unlinked; resolves when it was notified, and after a while at the latest.
 */
export async function sayUnlinked(
  socket: Pick<WASocket, 'logout'>,
  clock: Clock,
  failed: (error: unknown) => void,
): Promise<void> {
  const said = socket.logout().catch(failed);
  const timeout = new Promise<void>((resolve) => {
    clock.after(UNLINK_MS, resolve);
  });
  await Promise.race([said, timeout]);
}
