/** The amount of inbound data that a tenant receives, least first. */
export const INBOUND_MODES = ['none', 'events', 'texts'] as const;

/** `events`: that somebody wrote, and what kind; `texts`: the words and the attachments too. */
export type InboundMode = (typeof INBOUND_MODES)[number];

/** The mode that a stored tenant has; an earlier program stored none. */
export function inboundModeOf(record: { readonly inbound?: InboundMode } | null): InboundMode {
  return record?.inbound ?? 'none';
}
