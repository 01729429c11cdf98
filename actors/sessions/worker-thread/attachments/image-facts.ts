import { readFile } from 'node:fs/promises';
import type Sharp from 'sharp';
import { TenantSlots } from '../session/tenant-slots.ts';
import { hasManyScans } from './jpeg-scans.ts';

/** The known facts about an image. Undefined means unknown. */
export interface ImageFacts {
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** A small JPEG that is shown until the image is there, without the image's metadata. */
  readonly thumbnail: Buffer | undefined;
}

const NOTHING: ImageFacts = { width: undefined, height: undefined, thumbnail: undefined };

/** The thumbnail's longer side, in pixels, and its quality of 100: some 3 KB, which go to each device of the recipient. */
const THUMBNAIL_SIDE = 100;
const THUMBNAIL_QUALITY = 50;
/** No thumbnail is made of more pixels. At worst, interlaced and with 16 bits a channel, they take 200 MB. */
const MOST_PIXELS = 25_000_000;
/** The time that decoding one image may take, in seconds. */
const DECODE_SECONDS = 2;
/** A JPEG with more scans has no thumbnail, because the decoder reads them all before it checks the time above. */
const MOST_SCANS = 100;
/** How long an image waits for those before it. After that it is sent without a thumbnail. */
const TURN_MS = 5_000;

/** One image at a time in each thread, so that the memory above is taken once a thread. */
const turns = new TenantSlots(1);
/** One image of each tenant waits for that turn. So a tenant's slow images delay its own, and others by one. */
const tenantTurns = new TenantSlots(1);

let loading: Promise<typeof Sharp | undefined> | undefined;

/** Loaded with the first image: it takes 20 MB. Undefined if there is no build for the machine. */
function loadedSharp(): Promise<typeof Sharp | undefined> {
  loading ??= import('sharp').then(
    ({ default: sharp }) => {
      sharp.cache(false);
      sharp.concurrency(1);
      // Blocks all other decoders, for any content of a file.
      sharp.block({ operation: ['VipsForeignLoad'] });
      sharp.unblock({ operation: ['VipsForeignLoadJpegFile', 'VipsForeignLoadPngFile'] });
      return sharp;
    },
    () => undefined,
  );
  return loading;
}

/**
 * Reads a JPEG or PNG: its size as shown, and a thumbnail, bounded in pixels, time and memory. Resolves with undefined
 * if its header cannot be read; a truncated image has no thumbnail. Images are read one after the other, and a tenant's
 * next one after those of other tenants that wait. Never rejects.
 */
export async function imageFacts(path: string, tenantId: string): Promise<ImageFacts | undefined> {
  const sharp = await loadedSharp();
  if (sharp === undefined) return NOTHING;
  const turn = await takeTurn(tenantId, AbortSignal.timeout(TURN_MS)).catch(() => undefined);
  if (turn === undefined) return NOTHING;
  try {
    const { autoOrient, format } = await sharp(path, { limitInputPixels: false }).metadata();
    const isSlow = format === 'jpeg' && hasManyScans(await readFile(path), MOST_SCANS);
    const thumbnail = isSlow ? undefined : await thumbnailOf(sharp, path).catch(() => undefined);
    return { ...autoOrient, thumbnail };
  } catch {
    return undefined;
  } finally {
    turn();
  }
}

async function takeTurn(tenantId: string, signal: AbortSignal): Promise<() => void> {
  const endTenantTurn = await tenantTurns.take(tenantId, signal);
  try {
    const endTurn = await turns.take('image', signal);
    return () => {
      endTurn();
      endTenantTurn();
    };
  } catch (error) {
    endTenantTurn();
    throw error;
  }
}

function thumbnailOf(sharp: typeof Sharp, path: string): Promise<Buffer> {
  return sharp(path, { limitInputPixels: MOST_PIXELS, failOn: 'error' })
    .autoOrient()
    .resize({ width: THUMBNAIL_SIDE, height: THUMBNAIL_SIDE, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .jpeg({ quality: THUMBNAIL_QUALITY })
    .timeout({ seconds: DECODE_SECONDS })
    .toBuffer();
}
