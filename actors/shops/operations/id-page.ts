import type { PageQuery } from '../../reply-schemas/reply-fields.ts';

/** Returns a page of ids, newest first, after the cursor. */
export function idPage(
  allIds: readonly string[],
  { limit, cursor }: PageQuery,
): { readonly ids: readonly string[]; readonly nextCursor: string | null } {
  const idsAfter = allIds.filter((id) => cursor === undefined || id < cursor);
  const ids = idsAfter.slice(0, limit);
  return { ids, nextCursor: idsAfter.length > limit ? (ids.at(-1) ?? null) : null };
}
