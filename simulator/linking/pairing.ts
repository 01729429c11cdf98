import { randomBytes } from 'node:crypto';
import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import { ControlFailure } from '../control/control-failure.ts';
import type { Network } from '../network.ts';
import { lidAddress, phoneAddress, SERVER_ADDRESS } from '../socket/addresses.ts';
import type { Connection } from '../socket/connection.ts';
import type { ClientFinish } from '../socket/noise-responder.ts';
import { node, streamError } from '../socket/stanzas.ts';
import { type Companion, MOST_COMPANIONS } from './companions.ts';
import { identityDetails, isSignedByDevice, signIdentity } from './device-identity.ts';
import { type LinkingCode, readLinkingCode } from './linking-code.ts';
import { notifyOwnDevices } from './own-devices.ts';
import { unlink } from './unlinking.ts';

/** The number of references that a registering client gets. It shows them as QR codes, one after the other. */
const REFERENCES = 6;

/** The delay between the last code and the server's close, in milliseconds. The client normally closes before. */
const REFERENCES_GRACE_MS = 10_000;

/** A client that waits to be linked. */
export interface Registration {
  readonly connection: Connection;
  readonly references: readonly string[];
  readonly startedAtMs: number;
  readonly noiseKey: string;
  readonly identityKey: Buffer;
  readonly registrationId: number;
  readonly signedPreKey: Companion['signedPreKey'];
  /** True while a phone links it. Only one phone can do so at a time. */
  linking: boolean;
}

/** Clients that wait to be linked, and the phone's side of the scan. */
export class PairingService {
  readonly #network: Network;
  readonly #registrations = new Map<string, Registration>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** Gives references to a client that has no identity yet. */
  register(connection: Connection, finish: ClientFinish): void {
    const data = finish.payload.devicePairingData;
    if (!data?.eIdent || !data.eRegid || !data.eSkeyId || !data.eSkeyVal || !data.eSkeySig)
      throw new Error('registration without keys');
    const name = proto.DeviceProps.decode(data.deviceProps ?? new Uint8Array()).os;
    this.#network.log({ event: 'a client wants to be linked', name });
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
      linking: false,
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

  /** Removes a client whose socket has ended. */
  leave(connection: Connection): void {
    for (const [reference, registration] of this.#registrations) {
      if (registration.connection === connection) this.#registrations.delete(reference);
    }
  }

  /**
   * Scans a code with the phone: links the client that shows it and sends it to log in. Throws `ControlFailure` if the
   * code is malformed, unknown, expired or being scanned, or the client does not sign in time. It also does if the
   * number is not on the network, asks for a passkey or has four companions online.
   */
  async scan(qr: string, phone: string): Promise<Companion> {
    const code = readLinkingCode(qr);
    return await this.link(this.#registrationOf(code), phone, code.advSecret);
  }

  /** Returns the client that waits on that socket. */
  registrationOn(connection: Connection): Registration | undefined {
    return [...this.#registrations.values()].find((registration) => registration.connection === connection);
  }

  /** True if the time to link this client is over. */
  isOver({ startedAtMs }: Registration): boolean {
    return this.#network.clock.wallMs() - startedAtMs > this.#validForMs(REFERENCES - 1);
  }

  /**
   * Links a waiting client to the phone, under the secret that both know, and sends it to log in.
   * Throws `ControlFailure` like `scan`, except for the code.
   */
  async link(registration: Registration, phone: string, advSecret: Buffer): Promise<Companion> {
    const number = this.#network.numbers.of(phone);
    if (!number.exists)
      throw new ControlFailure(409, 'NUMBER_NOT_ON_NETWORK', `+${phone} is not on the network.`);
    if (registration.linking)
      throw new ControlFailure(409, 'QR_IN_USE', 'This code is being scanned already.');
    if (this.#network.faults.take('passkey', phone)) {
      const gate = { from: SERVER_ADDRESS, type: 'passkey_prologue_request', id: this.#network.newId() };
      registration.connection.send(node('notification', gate));
      throw new ControlFailure(409, 'PASSKEY_REQUIRED', `+${phone} links clients with a passkey alone.`);
    }
    registration.linking = true;
    try {
      this.#makeRoom(phone);
      const device = this.#network.companions.takeDevice(phone);
      const companion: Companion = {
        id: `${phone}:${device}`,
        phone,
        lid: number.lid,
        device,
        noiseKey: registration.noiseKey,
        identityKey: registration.identityKey,
        registrationId: registration.registrationId,
        signedPreKey: registration.signedPreKey,
        linkedAt: new Date(this.#network.clock.wallMs()).toISOString(),
      };
      await this.#offer(registration.connection, companion, advSecret);
      this.leave(registration.connection);
      this.#network.companions.add(companion);
      notifyOwnDevices(this.#network, companion);
      registration.connection.endWith(streamError(515, node('restart')));
      this.#network.log({ event: 'companion linked', companion: companion.id });
      return companion;
    } finally {
      registration.linking = false;
    }
  }

  #registrationOf(code: LinkingCode): Registration {
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

  /** Returns how long after the start the reference of that index is valid. */
  #validForMs(index: number): number {
    return this.#network.timings.qrFirstMs + index * this.#network.timings.qrNextMs;
  }

  /** Unlinks the oldest companion that is offline, if the phone has no free slot. */
  #makeRoom(phone: string): void {
    const linkedCompanions = this.#network.companions.of(phone);
    if (linkedCompanions.length < MOST_COMPANIONS) return;
    const idleCompanion = linkedCompanions.find((companion) => !this.#network.connections.of(companion.id));
    if (!idleCompanion) {
      throw new ControlFailure(
        409,
        'TOO_MANY_COMPANIONS',
        `+${phone} has ${MOST_COMPANIONS} companions online.`,
      );
    }
    unlink(this.#network, idleCompanion);
  }

  async #offer(connection: Connection, companion: Companion, advSecret: Buffer): Promise<void> {
    const handset = this.#network.handsets.handsetOf(companion.phone);
    const timestamp = Math.floor(this.#network.clock.wallMs() / 1_000);
    const details = identityDetails(companion, timestamp);
    const signedIdentity = signIdentity({ handset, companion, details, advSecret });
    const answer = await connection.ask(
      this.#pairSuccess(companion, signedIdentity),
      this.#network.timings.clientWaitMs,
    );
    if (!answer) throw new ControlFailure(504, 'CLIENT_SILENT', 'The client did not answer the pairing.');
    if (!isSignedByDevice({ handset, companion, details, answer }))
      throw new ControlFailure(502, 'CLIENT_SIGNATURE_INVALID', 'The client signed its pairing wrongly.');
  }

  #pairSuccess(companion: Companion, signedIdentity: Buffer): BinaryNode {
    const isPerson = this.#network.numbers.of(companion.phone).accountName !== undefined;
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
          // The client uses this as its own name.
          ...(isPerson ? [] : [node('biz', { name: `Phone ${companion.phone}` })]),
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

const readBigEndian = (bytes: Uint8Array): number => Buffer.from(bytes).readUIntBE(0, bytes.byteLength);
