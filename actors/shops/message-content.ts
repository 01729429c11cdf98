import type { MediaType } from '../media-type.ts';
import type { content } from '../reply-schemas/message-schemas.ts';
import type { ReplyOf } from '../reply-schemas/reply-fields.ts';

/**
 * The content of a message as it is stored and shown; null for none. A field that the reply's schema has and that is
 * missing below does not compile. Erasing a person, ending a scheduled send and comparing a repeated call follow.
 */
export type MessageContent = ReplyOf<typeof content>;

type GivenField = Exclude<keyof MessageContent, 'mediaType'>;

/**
 * The content of a message as a caller sends it: at once, at a time, or to the recipients of a batch. Undefined for
 * none; `mediaType` has a default.
 */
export type DraftContent = { readonly mediaType: MediaType } & {
  readonly [Field in GivenField]: NonNullable<MessageContent[Field]> | undefined;
};

/** A draft without content. */
export const NO_DRAFT: { readonly [Field in GivenField]: undefined } = {
  text: undefined,
  mediaUrl: undefined,
};

/** The content of a message after its recipient was erased. */
export const NO_CONTENT: { readonly [Field in keyof MessageContent]: null } = {
  text: null,
  mediaUrl: null,
  mediaType: null,
};

const FIELDS = Object.keys(NO_CONTENT) as readonly (keyof MessageContent)[];

/** Returns the stored form. Without an attachment there is no `mediaType`, whatever the caller sent. */
export function contentOf({ text, mediaUrl, mediaType }: DraftContent): MessageContent {
  return {
    text: text ?? null,
    mediaUrl: mediaUrl ?? null,
    mediaType: mediaUrl === undefined ? null : mediaType,
  };
}

/** Returns the content of a draft without its other fields. */
export function onlyContent(draft: DraftContent): DraftContent {
  return Object.fromEntries(FIELDS.map((field) => [field, draft[field]])) as DraftContent;
}

/**
 * Returns the values of a content for a digest. The fields that 0.2.0 had come first. A later field is added, with its
 * name, only if it has a value, so that stored digests stay equal.
 */
export function digestedContent(draft: DraftContent): readonly unknown[] {
  const { text, mediaUrl, mediaType, ...laterFields } = contentOf(draft);
  const presentOnes = Object.entries<unknown>(laterFields).filter(([, value]) => value !== null);
  return [text, mediaUrl, mediaType, ...presentOnes];
}

/** Returns the number of characters of all its fields. */
export function contentLength(draft: Partial<DraftContent>): number {
  let length = 0;
  for (const field of FIELDS) length += draft[field]?.length ?? 0;
  return length;
}

/** True if both are equal in every field. */
export function isSameContent(left: MessageContent, right: MessageContent): boolean {
  return FIELDS.every((field) => left[field] === right[field]);
}
