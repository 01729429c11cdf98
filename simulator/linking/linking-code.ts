import { ControlFailure } from '../control/control-failure.ts';

/** The content of a QR code. Keys are base64, as the client wrote them. */
export interface LinkingCode {
  readonly reference: string;
  readonly noiseKey: string;
  readonly identityKey: string;
  readonly advSecret: Buffer;
}

/**
 * Reads `https://wa.me/settings/linked_devices#ref,noise,identity,adv,platform`; the address may be missing.
 * Throws `ControlFailure` 422 if it is no such code.
 */
export function readLinkingCode(qr: string): LinkingCode {
  const parts = qr.slice(qr.indexOf('#') + 1).split(',');
  const [reference, noiseKey, identityKey, advSecret] = parts;
  if (parts.length < 4 || !reference || !noiseKey || !identityKey || !advSecret) {
    throw new ControlFailure(422, 'VALIDATION_ERROR', 'Not a linking code.', [
      { field: 'qr', message: 'must be a linking code: ref,noise,identity,adv,platform after #' },
    ]);
  }
  return { reference, noiseKey, identityKey, advSecret: Buffer.from(advSecret, 'base64') };
}
