const FIELDS = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Returns a caller's `traceparent` as version 00. Undefined if it must be ignored (W3C Trace Context, 2.2 and 4.3).
 * Such a text has another form, version ff, an id of only zeros, or version 00 with text after the flags.
 */
export function readTraceparent(header: string): string | undefined {
  const [, version = '', traceId = '', parentId = '', flags = '', otherFields] = FIELDS.exec(header) ?? [];
  if (traceId === '' || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  if (version === '00') return otherFields === undefined ? header : undefined;
  // A later version keeps the meaning of these fields. Only the first bit of its flags is known here.
  return `00-${traceId}-${parentId}-0${Number.parseInt(flags, 16) & 1}`;
}
