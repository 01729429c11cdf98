/** The amount of inbound data that a tenant receives, least first. */
export const INBOUND_MODES = ['none', 'events', 'texts'] as const;

/**
 * `events` publishes that a person wrote, and the kind of message. `texts` also publishes the text and the attachments.
 */
export type InboundMode = (typeof INBOUND_MODES)[number];

/** Returns the mode of a stored tenant; 0.1.0 stored none. */
export function inboundModeOf(record: { readonly inbound?: InboundMode } | null): InboundMode {
  return record?.inbound ?? 'none';
}
