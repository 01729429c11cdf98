import { uint32 } from './media-samples.ts';

/** Returns a JPEG with a colour profile that swaps red and blue, padded to this number of bytes. */
export function withSwappedColours(jpeg: Buffer, profileBytes: number): Buffer {
  const content = Buffer.concat([
    Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'),
    swappingProfile(profileBytes),
  ]);
  const length = uint32(content.length + 2).subarray(2);
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.from('ffe2', 'hex'), length, content, jpeg.subarray(2)]);
}

/** The colours of sRGB by their places in CIE XYZ, as ICC.1:2022 wants them. */
const RED = [0.436, 0.2225, 0.0139];
const GREEN = [0.3851, 0.7169, 0.0971];
const BLUE = [0.1431, 0.0606, 0.7141];
const WHITE = [0.9642, 1, 0.8249];

function swappingProfile(bytes: number): Buffer {
  const fixed = (values: readonly number[]): Buffer =>
    Buffer.concat(values.map((value) => uint32(Math.round(value * 65_536))));
  const place = (values: readonly number[]): Buffer =>
    Buffer.concat([Buffer.from('XYZ \0\0\0\0'), fixed(values)]);
  const line = Buffer.concat([Buffer.from('curv\0\0\0\0'), uint32(0)]);
  const tags: readonly (readonly [string, Buffer])[] = [
    ['wtpt', place(WHITE)],
    ['rXYZ', place(BLUE)],
    ['gXYZ', place(GREEN)],
    ['bXYZ', place(RED)],
    ['rTRC', line],
    ['gTRC', line],
    ['bTRC', line],
  ];
  let offset = 132 + tags.length * 12;
  const entries = tags.map(([name, content]) => {
    const entry = Buffer.concat([Buffer.from(name), uint32(offset), uint32(content.length)]);
    offset += content.length;
    return entry;
  });
  const head = Buffer.alloc(128);
  head.writeUInt32BE(bytes, 0);
  head.writeUInt32BE(0x04_30_00_00, 8);
  head.write('mntrRGB XYZ ', 12);
  head.write('acsp', 36);
  fixed(WHITE).copy(head, 68);
  const contents = tags.map(([, content]) => content);
  const profile = Buffer.concat([head, uint32(tags.length), ...entries, ...contents]);
  return Buffer.concat([profile, Buffer.alloc(bytes - profile.length)]);
}
