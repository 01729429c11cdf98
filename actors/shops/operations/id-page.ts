import type { PageQuery } from '../../replies/reply-fields.ts';

/** Returns a page of ids, newest first, after the cursor. */
export function idPage(
  all: readonly string[],
  { limit, cursor }: PageQuery,
): { readonly ids: readonly string[]; readonly nextCursor: string | null } {
  const left = all.filter((id) => cursor === undefined || id < cursor.toLowerCase());
  const ids = left.slice(0, limit);
  return { ids, nextCursor: left.length > limit ? (ids.at(-1) ?? null) : null };
}
