import { randomBytes } from 'node:crypto';
import {
  type BinaryNode,
  Curve,
  getBinaryNodeChild,
  hmacSign,
  proto,
  WA_ADV_ACCOUNT_SIG_PREFIX,
  WA_ADV_DEVICE_SIG_PREFIX,
} from '@whiskeysockets/baileys';
import { lidAddress, phoneAddress, SERVER_ADDRESS } from './addresses.ts';
import { stanzaTime } from './clock.ts';
import { type Companion, MOST_COMPANIONS } from './companions.ts';
import type { Connection } from './connection.ts';
import { ControlFailure } from './control-failure.ts';
import type { Network } from './network.ts';
import type { ClientFinish } from './noise-responder.ts';
import { node, streamError } from './stanzas.ts';
import { unlink } from './unlinking.ts';

/** A registering client gets this many references to show as QR codes, one after the other. */
const REFERENCES = 6;

/** The client closes by itself when its codes are used up; the server waits so much longer before it does. */
const REFERENCES_GRACE_MS = 10_000;

/** A client that waits to be scanned. */
interface Registration {
  readonly connection: Connection;
  readonly references: readonly string[];
  readonly startedAtMs: number;
  readonly noiseKey: string;
  readonly identityKey: Buffer;
  readonly registrationId: number;
  readonly signedPreKey: Companion['signedPreKey'];
  /** One scan at a time. */
  scanning: boolean;
}

/** What a QR code says. */
interface ScannedCode {
  readonly reference: string;
  readonly noiseKey: string;
  readonly identityKey: string;
  readonly advSecret: Buffer;
}

/** Clients that wait to be scanned, and the phone's side of scanning them. */
export class PairingDesk {
  readonly #network: Network;
  readonly #registrations = new Map<string, Registration>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** Gives a client that has no identity yet its references. */
  register(connection: Connection, finish: ClientFinish): void {
    const data = finish.payload.devicePairingData;
    if (!data?.eIdent || !data.eRegid || !data.eSkeyId || !data.eSkeyVal || !data.eSkeySig) {
      throw new Error('registration without keys');
    }
    const references = Array.from({ length: REFERENCES }, () => `2@${randomBytes(24).toString('base64url')}`);
    const registration: Registration = {
      connection,
      references,
      startedAtMs: this.#network.clock.wallMs(),
      noiseKey: finish.staticKey.toString('base64'),
      identityKey: Buffer.from(data.eIdent),
      registrationId: readBigEndian(data.eRegid),
      signedPreKey: {
        id: readBigEndian(data.eSkeyId),
        key: Buffer.from(data.eSkeyVal),
        signature: Buffer.from(data.eSkeySig),
      },
      scanning: false,
    };
    for (const reference of references) this.#registrations.set(reference, registration);
    this.#network.clock.after(this.#validForMs(REFERENCES - 1) + REFERENCES_GRACE_MS, () => {
      if (this.#registrations.get(references[0] ?? '') === registration) connection.drop();
    });
    connection.send(
      node('iq', { from: SERVER_ADDRESS, type: 'set', id: this.#network.newId(), xmlns: 'md' }, [
        node(
          'pair-device',
          {},
          references.map((reference) => node('ref', {}, Buffer.from(reference))),
        ),
      ]),
    );
  }

  /** Forgets a client that went away. */
  leave(connection: Connection): void {
    for (const [reference, registration] of this.#registrations) {
      if (registration.connection === connection) this.#registrations.delete(reference);
    }
  }

  /**
   * The phone scans a code: links the client that shows it and sends it to log in.
   * @throws ControlFailure when the code is malformed, unknown, expired or being scanned, the number is not on the
   * network or has four companions online, or the client does not sign in time.
   */
  async scan(qr: string, phone: string): Promise<Companion> {
    const code = readCode(qr);
    const registration = this.#registrationOf(code);
    const number = this.#network.numbers.of(phone);
    if (!number.exists)
      throw new ControlFailure(409, 'NUMBER_NOT_ON_NETWORK', `+${phone} is not on the network.`);
    if (registration.scanning)
      throw new ControlFailure(409, 'QR_IN_USE', 'This code is being scanned already.');
    registration.scanning = true;
    try {
      this.#makeRoom(phone);
      const companion: Companion = {
        id: `${phone}:${this.#network.companions.nextDevice(phone)}`,
        phone,
        lid: number.lid,
        device: this.#network.companions.nextDevice(phone),
        noiseKey: registration.noiseKey,
        identityKey: registration.identityKey,
        registrationId: registration.registrationId,
        signedPreKey: registration.signedPreKey,
        linkedAt: new Date(this.#network.clock.wallMs()).toISOString(),
      };
      await this.#offer(registration.connection, companion, code.advSecret);
      this.leave(registration.connection);
      this.#network.companions.add(companion);
      registration.connection.endWith(streamError(515, node('restart')));
      await this.#network.journal.settled();
      this.#network.log({ event: 'companion linked', companion: companion.id });
      return companion;
    } finally {
      registration.scanning = false;
    }
  }

  #registrationOf(code: ScannedCode): Registration {
    const registration = this.#registrations.get(code.reference);
    if (!registration) throw new ControlFailure(404, 'QR_UNKNOWN', 'No client waits with this code.');
    const index = registration.references.indexOf(code.reference);
    const ageMs = this.#network.clock.wallMs() - registration.startedAtMs;
    if (ageMs > this.#validForMs(index))
      throw new ControlFailure(410, 'QR_EXPIRED', 'This code has expired.');
    if (
      code.noiseKey !== registration.noiseKey ||
      code.identityKey !== registration.identityKey.toString('base64')
    ) {
      throw new ControlFailure(422, 'VALIDATION_ERROR', 'The code names other keys than its client.', [
        { field: 'qr', message: 'keys do not match the waiting client' },
      ]);
    }
    return registration;
  }

  /** How long after the start the reference of that index can be scanned. */
  #validForMs(index: number): number {
    return this.#network.timings.qrFirstMs + index * this.#network.timings.qrNextMs;
  }

  /** A full phone unlinks its oldest companion that is offline. */
  #makeRoom(phone: string): void {
    const linked = this.#network.companions.of(phone);
    if (linked.length < MOST_COMPANIONS) return;
    const idle = linked.find((companion) => !this.#network.connections.of(companion.id));
    if (!idle) {
      throw new ControlFailure(
        409,
        'TOO_MANY_COMPANIONS',
        `+${phone} has ${MOST_COMPANIONS} companions online.`,
      );
    }
    unlink(this.#network, idle);
  }

  async #offer(connection: Connection, companion: Companion, advSecret: Buffer): Promise<void> {
    const handset = this.#network.handsets.of(companion.phone);
    const details = proto.ADVDeviceIdentity.encode({
      rawId: companion.registrationId,
      timestamp: Math.floor(this.#network.clock.wallMs() / 1000),
      keyIndex: companion.device,
    }).finish();
    const accountSignature = handset.sign(
      Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, companion.identityKey]),
    );
    const identity = proto.ADVSignedDeviceIdentity.encode({
      details,
      accountSignatureKey: handset.identityKey,
      accountSignature,
    }).finish();
    const signed = proto.ADVSignedDeviceIdentityHMAC.encode({
      details: identity,
      hmac: hmacSign(identity, advSecret),
    }).finish();
    const answer = await connection.ask(
      this.#pairSuccess(companion, Buffer.from(signed)),
      this.#network.timings.clientWaitMs,
    );
    if (!answer) throw new ControlFailure(504, 'CLIENT_SILENT', 'The client did not answer the pairing.');
    const deviceMessage = Buffer.concat([
      WA_ADV_DEVICE_SIG_PREFIX,
      details,
      companion.identityKey,
      handset.identityKey,
    ]);
    if (!isSigned(answer, companion, deviceMessage)) {
      throw new ControlFailure(502, 'CLIENT_SIGNATURE_INVALID', 'The client signed its pairing wrongly.');
    }
  }

  #pairSuccess(companion: Companion, signedIdentity: Buffer): BinaryNode {
    return node(
      'iq',
      {
        from: SERVER_ADDRESS,
        type: 'set',
        id: this.#network.newId(),
        xmlns: 'md',
        t: stanzaTime(this.#network.clock),
      },
      [
        node('pair-success', {}, [
          node('device-identity', {}, signedIdentity),
          // The client takes this as its own name, and sends no presence without one.
          node('biz', { name: `Phone ${companion.phone}` }),
          node('device', {
            jid: phoneAddress(companion.phone, companion.device),
            lid: lidAddress(companion.lid, companion.device),
          }),
          node('platform', { name: 'android' }),
        ]),
      ],
    );
  }
}

function isSigned(answer: BinaryNode, companion: Companion, deviceMessage: Buffer): boolean {
  const identity = getBinaryNodeChild(getBinaryNodeChild(answer, 'pair-device-sign'), 'device-identity');
  if (!(identity?.content instanceof Uint8Array)) return false;
  const { deviceSignature } = proto.ADVSignedDeviceIdentity.decode(identity.content);
  return !!deviceSignature && Curve.verify(companion.identityKey, deviceMessage, deviceSignature);
}

/** Reads `https://wa.me/settings/linked_devices#ref,noise,identity,adv,platform`; the address may be missing. */
function readCode(qr: string): ScannedCode {
  const parts = qr.slice(qr.indexOf('#') + 1).split(',');
  const [reference, noiseKey, identityKey, advSecret] = parts;
  if (parts.length < 4 || !reference || !noiseKey || !identityKey || !advSecret) {
    throw new ControlFailure(422, 'VALIDATION_ERROR', 'Not a linking code.', [
      { field: 'qr', message: 'must be a linking code: ref,noise,identity,adv,platform after #' },
    ]);
  }
  return { reference, noiseKey, identityKey, advSecret: Buffer.from(advSecret, 'base64') };
}

const readBigEndian = (bytes: Uint8Array): number => Buffer.from(bytes).readUIntBE(0, bytes.byteLength);
