import { toDataURL } from 'qrcode';

/** Draws one QR code as a PNG data URL; runs in a thread of the pool in qr-image.ts. */
export function drawQrImage(text: string): Promise<string> {
  return toDataURL(text, { type: 'image/png', errorCorrectionLevel: 'M', margin: 2, width: 320 });
}
