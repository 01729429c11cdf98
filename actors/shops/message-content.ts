import { hasText } from '../../policy/message-content.ts';
import type { MediaType } from '../media-type.ts';

/** The content of a message as a caller sends it: at once, at a time, or to the recipients of a batch. */
export interface DraftContent {
  readonly text: string | undefined;
  readonly mediaUrl: string | undefined;
  readonly mediaType: MediaType;
}

/**
 * The content of a message as it is stored; null for none. Erasing a person, comparing a repeated call and showing a
 * send all follow from this type. So a new field cannot be forgotten there.
 */
export interface MessageContent {
  readonly text: string | null;
  readonly mediaUrl: string | null;
  readonly mediaType: MediaType | null;
}

/** The content of a message after its recipient was erased. */
export const NO_CONTENT: { readonly [Field in keyof MessageContent]: null } = {
  text: null,
  mediaUrl: null,
  mediaType: null,
};

/** Returns the stored form. Without an attachment there is no `mediaType`, whatever the caller sent. */
export function contentOf({ text, mediaUrl, mediaType }: DraftContent): MessageContent {
  return {
    text: text ?? null,
    mediaUrl: mediaUrl ?? null,
    mediaType: mediaUrl === undefined ? null : mediaType,
  };
}

/** True if the content has neither a visible text nor an attachment. */
export function isEmpty({ text, mediaUrl }: Pick<DraftContent, 'text' | 'mediaUrl'>): boolean {
  return mediaUrl === undefined && !hasText(text);
}

/** True if both are equal in every field. */
export function isSameContent(left: MessageContent, right: MessageContent): boolean {
  return (Object.keys(NO_CONTENT) as (keyof MessageContent)[]).every((field) => left[field] === right[field]);
}
