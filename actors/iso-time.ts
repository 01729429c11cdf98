/** Returns a moment in milliseconds since the Unix epoch as both APIs show it; null if there is none. */
export function isoOrNull(ms: number | null | undefined): string | null {
  return ms == null ? null : new Date(ms).toISOString();
}
