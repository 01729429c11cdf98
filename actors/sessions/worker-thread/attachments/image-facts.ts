import { readFile } from 'node:fs/promises';
import type Sharp from 'sharp';
import { FairSlots } from '../../../../runtime/fair-slots.ts';
import { barePng } from './bare-png.ts';
import { hasManyScans } from './jpeg-scans.ts';

/** The known facts about an image. Undefined means unknown. */
export interface ImageFacts {
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** A small JPEG that is shown until the image is there, without the image's metadata. */
  readonly thumbnail: Buffer | undefined;
}

const NOTHING: ImageFacts = { width: undefined, height: undefined, thumbnail: undefined };

/**
 * The thumbnail's longer side, in pixels, and its quality of 100: some 3 KB, which go to each device of the recipient.
 */
const THUMBNAIL_SIDE = 100;
const THUMBNAIL_QUALITY = 50;
/** No thumbnail is made of more pixels. At worst, interlaced and with 16 bits a channel, they take 300 MB. */
const MOST_PIXELS = 25_000_000;
/** No thumbnail is made of an image with a longer side. Decoders hold whole rows, and a JPEG cannot be longer. */
const MOST_SIDE = 65_535;
/** The time that decoding one image may take, in seconds. The decoder checks it only between rows of pixels. */
const DECODE_SECONDS = 2;
/**
 * The scans that a JPEG may have, and their pixels in all. The decoder reads them all before it checks the time above.
 * A photo has ten scans.
 */
const MOST_SCANS = 100;
const MOST_SCANNED_PIXELS = 20 * MOST_PIXELS;
/**
 * A larger colour profile is ignored: one of 300 KB may take a minute, and the time above does not end it. Cameras' own
 * have some 600 bytes; sRGB, which has 3 KB, makes no difference.
 */
const MOST_PROFILE_BYTES = 1_024;
/** How long an image waits for those before it. After that it is sent without a thumbnail. */
const TURN_MS = 5_000;

const READ_SAFELY = { limitInputPixels: MOST_PIXELS, failOn: 'error' } as const;
/** The first byte of a PNG. */
const PNG = 0x89;

/** One image at a time in each thread, so that the memory above is taken once a thread. */
const turns = new FairSlots({ all: 1, share: 1 });
/** One image of each tenant waits for that turn. So a tenant's slow images delay its own, and others only by one. */
const tenantTurns = new FairSlots({ share: 1 });

let loading: Promise<typeof Sharp | undefined> | undefined;

/** Loaded with the first image: it takes 20 MB. Undefined if there is no build for the machine. */
function loadedSharp(): Promise<typeof Sharp | undefined> {
  loading ??= import('sharp').then(
    ({ default: sharp }) => {
      sharp.cache(false);
      sharp.concurrency(1);
      // Blocks all other decoders, for any content of a file.
      sharp.block({ operation: ['VipsForeignLoad'] });
      sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'] });
      return sharp;
    },
    () => undefined,
  );
  return loading;
}

/**
 * Reads a JPEG or PNG: its size as shown, and a thumbnail, bounded in pixels, time and memory. Resolves with undefined
 * if its header cannot be read; a truncated image has no thumbnail. Images are read one after the other. If several
 * tenants have images that wait, the tenants take turns. Never rejects.
 */
export async function imageFacts(path: string, tenantId: string): Promise<ImageFacts | undefined> {
  const sharp = await loadedSharp();
  if (sharp === undefined) return NOTHING;
  const signal = AbortSignal.timeout(TURN_MS);
  const read = (): Promise<ImageFacts | undefined> =>
    readFile(path)
      .then((file) => factsIn(sharp, file))
      .catch(() => undefined);
  return tenantTurns.run(tenantId, () => turns.run(tenantId, read, signal), signal).catch(() => NOTHING);
}

async function factsIn(sharp: typeof Sharp, file: Buffer): Promise<ImageFacts> {
  const isPng = file[0] === PNG;
  const image = isPng ? barePng(file) : file;
  if (image === undefined) return NOTHING;
  const { width, height, autoOrient, icc } = await sharp(image, { limitInputPixels: false }).metadata();
  const isTooLong = Math.max(width, height) > MOST_SIDE;
  const mostScans = Math.min(MOST_SCANS, MOST_SCANNED_PIXELS / (width * height));
  const isSlow = isTooLong || (!isPng && hasManyScans(image, mostScans));
  const ignoreIcc = (icc?.length ?? 0) > MOST_PROFILE_BYTES;
  const thumbnail = isSlow ? undefined : await thumbnailOf(sharp(image, { ...READ_SAFELY, ignoreIcc }));
  return { ...autoOrient, thumbnail };
}

/** Undefined if it cannot be made, for example of a truncated image. */
function thumbnailOf(image: ReturnType<typeof Sharp>): Promise<Buffer | undefined> {
  return image
    .autoOrient()
    .resize({ width: THUMBNAIL_SIDE, height: THUMBNAIL_SIDE, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .jpeg({ quality: THUMBNAIL_QUALITY })
    .timeout({ seconds: DECODE_SECONDS })
    .toBuffer()
    .catch(() => undefined);
}
