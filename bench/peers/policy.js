// The caps of policy/evaluate-message.ts in the obvious first form: a list of sends a shop.
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const caps = { perDay: 250, perHour: 41, coldPerDay: 25 };

/** Decides on sends; counts in memory, so a restart forgets what was sent. */
export function createPolicy(known) {
  const sends = new Map();
  return {
    evaluate(shopId, { to, text = '' }, nowMs) {
      const list = (sends.get(shopId) ?? []).filter(({ atMs }) => atMs > nowMs - DAY_MS);
      sends.set(shopId, list);
      const lastHour = list.filter(({ atMs }) => atMs > nowMs - HOUR_MS);
      const cold = !known.has(to);
      const coldToday = list.filter((send) => send.cold).length;
      const content = text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
      const same = new Set(lastHour.filter((send) => send.content === content).map((send) => send.to));
      const toRecipient = list.filter((send) => send.to === to);
      if (same.size >= 20) return { admitted: false, code: 'BULK_PATTERN_BLOCKED' };
      if (toRecipient.length >= 3 || (toRecipient.at(-1)?.atMs ?? 0) > nowMs - 600_000) {
        return { admitted: false, code: 'RECIPIENT_RATE_LIMITED' };
      }
      if (list.length >= caps.perDay) return { admitted: false, code: 'DAILY_CAP_REACHED' };
      if (lastHour.length >= caps.perHour) return { admitted: false, code: 'HOURLY_CAP_REACHED' };
      if (cold && coldToday >= caps.coldPerDay) return { admitted: false, code: 'COLD_RECIPIENT_CAP_REACHED' };
      const usage = { today: list.length + 1, lastHour: lastHour.length + 1, coldToday: coldToday + Number(cold) };
      return {
        admitted: true,
        policy: { recipientClass: cold ? 'cold' : 'known', caps, usage },
        entry: { atMs: nowMs, to, cold, content },
      };
    },
    record(shopId, entry) {
      sends.get(shopId).push(entry);
    },
  };
}
