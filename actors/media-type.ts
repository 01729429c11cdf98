/** The types of attachment that a caller can send. */
export const MEDIA_TYPES = ['image', 'video', 'document'] as const;

/** One of them. */
export type MediaType = (typeof MEDIA_TYPES)[number];
