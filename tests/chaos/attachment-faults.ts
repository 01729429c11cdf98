import assert from 'node:assert/strict';
import { untilStatus } from '../e2e/stack/shop-steps.ts';
import { until } from '../testbed/waiting.ts';
import { attachmentHost, sendAttachment } from './attachments.ts';
import { allConnected, openShops } from './chaos-shops.ts';
import { type Fault, within } from './scenario.ts';
import type { SmallDisk } from './small-disk.ts';

/** The longest wait for the attachment after there is space again. Its next try comes after a gap between two sends. */
const RECOVERY_MS = 15_000;
/** An alert fires below this share (deploy/monitoring/alert-rules.yaml, AttachmentRoomNearlyUsed). */
const ALERT_SHARE = 0.1;

/** Fills the folder of attachments of all nodes. Texts go out, an attachment waits for space, and then it is sent. */
export function noRoomForAttachments(disk: SmallDisk): Fault {
  return {
    name: 'the folder of attachments is full',
    async inflict(run) {
      const { fleet } = run;
      const [shop] = await openShops(fleet, 1);
      assert.ok(shop);
      const [to = ''] = shop.freshRecipients;
      const host = await attachmentHost();
      const words = 'an attachment could not be written';
      try {
        disk.fill();
        const room = await fleet.nodes[0]?.metric('msgapi_attachment_room_ratio');
        assert.ok(room !== undefined && room < ALERT_SHARE, `the alert is silent: ${room} is free`);
        const id = await sendAttachment(shop, { to, url: host.url });
        await until('the log says why', async () => fleet.nodes.some((node) => node.log().includes(words)));
        const { data } = await shop.api.get(`/messages/${id}`);
        assert.equal(data.status, 'queued', `it is ${data.status} ${data.reason}`);
        disk.free();
        const backMs = performance.now();
        await untilStatus(shop, id, 'sent');
        const recoveredMs = performance.now() - backMs;
        within(run, RECOVERY_MS, 'sending with room for attachments', recoveredMs);
        await allConnected(run.shops);
        return { recoveredMs, note: `time from its end; the log says "${words}"` };
      } finally {
        disk.free();
        host.close();
      }
    },
  };
}
