/** The states of a shop's channel in the contract's words (docs/contract.md, Channel connection state). */
export const CHANNEL_STATUSES = ['starting', 'qr_waiting', 'connected', 'disconnected'] as const;

export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];
