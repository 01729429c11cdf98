/** The parts of ASN.1's distinguished encoding (X.690) that a certificate needs. */

const tagged = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthBytes(body.byteLength), body]);
};

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.byteLength]), bytes]);
}

export const sequence = (...parts: Uint8Array[]): Buffer => tagged(0x30, ...parts);

export const set = (...parts: Uint8Array[]): Buffer => tagged(0x31, ...parts);

/** A non-negative integer from its big-endian bytes. */
export const integer = (bytes: Uint8Array): Buffer =>
  tagged(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);

export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]));

export const octets = (bytes: Uint8Array): Buffer => tagged(0x04, bytes);

/** A bit string; the last `unused` bits of the bytes do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), bytes);

export const text = (value: string): Buffer => tagged(0x0c, Buffer.from(value, 'utf8'));

/** `[number]` around parts (explicit, constructed). */
export const explicit = (number: number, ...parts: Uint8Array[]): Buffer => tagged(0xa0 | number, ...parts);

/** `[number]` in place of a primitive's own tag. */
export const implicit = (number: number, bytes: Uint8Array): Buffer => tagged(0x80 | number, bytes);

/** A time as X.509 wants it: two-digit years up to 2049, four digits from then on. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(0, 14);
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : tagged(0x18, Buffer.from(`${digits}Z`));
}

/** An object identifier from its dotted form. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((part) => {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift(0x80 | (left & 0x7f));
    return groups;
  });
  return tagged(0x06, Buffer.from(bytes));
}
