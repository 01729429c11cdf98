import { randomBytes } from 'node:crypto';
import {
  type BinaryNode,
  Curve,
  getBinaryNodeChild,
  getBinaryNodeChildBuffer,
  getBinaryNodeChildString,
  type KeyPair,
} from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import { ControlFailure } from '../control/control-failure.ts';
import type { Network } from '../network.ts';
import { SERVER_ADDRESS } from '../socket/addresses.ts';
import type { Connection } from '../socket/connection.ts';
import { attribute, iqError, iqResult, node } from '../socket/stanzas.ts';
import type { Companion } from './companions.ts';
import type { PairingService, Registration } from './pairing.ts';
import {
  linkingSecret,
  openKeyBundle,
  plainCode,
  unwrapByCode,
  WRAPPED_KEY_BYTES,
  wrapByCode,
} from './pairing-code-keys.ts';

/** A client that shows a code, and the phone on which it is to be typed. */
interface CodeRequest {
  readonly registration: Registration;
  readonly phone: string;
  readonly reference: Buffer;
  /** The client's ephemeral key, wrapped by the code that it shows. */
  readonly wrappedKey: Buffer;
  /** Takes the bundle of the client's `companion_finish`. Set only while a phone waits for it. */
  finish: ((bundle: Buffer | undefined) => void) | undefined;
}

/**
 * `Browser (System)`, both common ones: the server refuses others (tulir/whatsmeow, pair-code.go). This list is a
 * guess.
 */
const COMMON_NAME = /^(Chrome|Edge|Firefox|Opera|Safari) \((Android|Linux|Mac OS|Ubuntu|Windows)\)$/;

const isCommonName = (hello: BinaryNode): boolean =>
  COMMON_NAME.test(getBinaryNodeChildString(hello, 'companion_platform_display') ?? '');

/**
 * Pairing by code. A registering client names a phone (`companion_hello`) and shows its owner a code. The code is typed
 * on the phone, which answers with a key wrapped by it. The client's `companion_finish` proves that both used the same
 * code. Then the account links the client as after a scan. The network never sees the code.
 */
export class CodePairing {
  readonly #network: Network;
  readonly #pairing: PairingService;
  /** By the phone on which the code is typed. A newer client replaces the one before. */
  readonly #requests = new Map<string, CodeRequest>();

  constructor(network: Network, pairing: PairingService) {
    this.#network = network;
    this.#pairing = pairing;
  }

  /** Answers an iq of a client without an identity. Only the stages of pairing by code get an answer. */
  answer(connection: Connection, iq: BinaryNode): void {
    const registration = this.#pairing.registrationOn(connection);
    const stage = getBinaryNodeChild(iq, 'link_code_companion_reg');
    if (registration === undefined || stage === undefined) return;
    if (attribute(stage, 'stage') === 'companion_hello') this.#hello(registration, iq, stage);
    else if (attribute(stage, 'stage') === 'companion_finish') this.#finished(registration, iq, stage);
    else connection.send(iqError(iq, 501, 'feature-not-implemented'));
  }

  /** Forgets a client whose socket has ended. */
  leave(connection: Connection): void {
    for (const [phone, { registration, finish }] of this.#requests) {
      if (registration.connection !== connection) continue;
      this.#requests.delete(phone);
      finish?.(undefined);
    }
  }

  /**
   * Types a code on the phone: links the client that shows it and sends it to log in. Throws `ControlFailure` if no
   * client waits for this phone, its time is over, or the code is wrong or in use. It also does if the client does not
   * answer in time, and for every reason to refuse a scan.
   */
  async typeCode(typed: string, phone: string): Promise<Companion> {
    const request = this.#requests.get(phone);
    if (request === undefined)
      throw new ControlFailure(404, 'CODE_UNKNOWN', `No client waits for a code typed on +${phone}.`);
    if (this.#pairing.isOver(request.registration))
      throw new ControlFailure(410, 'CODE_EXPIRED', 'The time for this code is over.');
    if (request.finish !== undefined)
      throw new ControlFailure(409, 'CODE_IN_USE', 'This code is being typed already.');
    const ephemeral = Curve.generateKeyPair();
    const code = plainCode(typed);
    try {
      const bundle = await this.#sendKeys(request, ephemeral, code);
      const secret = await this.#agree({ request, ephemeral, bundle, code });
      const companion = await this.#pairing.link(request.registration, phone, secret);
      this.#requests.delete(phone);
      return companion;
    } finally {
      request.finish = undefined;
    }
  }

  #hello(registration: Registration, iq: BinaryNode, hello: BinaryNode): void {
    const { connection } = registration;
    const digits = attribute(hello, 'jid').split('@', 1)[0] ?? '';
    const number = this.#network.numbers.find(digits);
    const refusal = this.#network.faults.take('query', `${number.phone} md`);
    const wrappedKey = getBinaryNodeChildBuffer(hello, 'link_code_pairing_wrapped_companion_ephemeral_pub');
    const noiseKey = getBinaryNodeChildBuffer(hello, 'companion_server_auth_key_pub');
    const isOwnKey = noiseKey !== undefined && toBase64(noiseKey) === registration.noiseKey;
    if (refusal) {
      connection.send(iqError(iq, refusal.code, refusal.text));
    } else if (!number.exists) {
      connection.send(iqError(iq, 404, 'item-not-found'));
    } else if (wrappedKey?.byteLength !== WRAPPED_KEY_BYTES || !isOwnKey || !isCommonName(hello)) {
      connection.send(iqError(iq, 400, 'bad-request'));
    } else {
      const reference = randomBytes(24);
      this.#requests.get(number.phone)?.finish?.(undefined);
      this.#requests.set(number.phone, {
        registration,
        phone: number.phone,
        reference,
        wrappedKey: Buffer.from(wrappedKey),
        finish: undefined,
      });
      const knownReference = node('link_code_pairing_ref', {}, reference);
      connection.send(iqResult(iq, [node('link_code_companion_reg', {}, [knownReference])]));
    }
  }

  /** Passes the client's bundle to the phone. Only the phone can check it. */
  #finished({ connection }: Registration, iq: BinaryNode, finish: BinaryNode): void {
    const reference = toBase64(getBinaryNodeChildBuffer(finish, 'link_code_pairing_ref'));
    const request = [...this.#requests.values()].find(
      (offer) => offer.registration.connection === connection && toBase64(offer.reference) === reference,
    );
    const bundle = getBinaryNodeChildBuffer(finish, 'link_code_pairing_wrapped_key_bundle');
    if (request?.finish === undefined || bundle === undefined) {
      connection.send(iqError(iq, 400, 'bad-request'));
      return;
    }
    connection.send(iqResult(iq));
    request.finish(Buffer.from(bundle));
  }

  /**
   * Sends the client the phone's keys, wrapped by the typed code. Resolves with the bundle of the client's
   * `companion_finish`.
   */
  async #sendKeys(request: CodeRequest, ephemeral: KeyPair, code: string): Promise<Buffer> {
    const { clock, timings, handsets } = this.#network;
    const answer = new Promise<Buffer | undefined>((resolve) => {
      const timer = clock.after(timings.clientWaitMs, () => resolve(undefined));
      request.finish = (bundle) => {
        timer.cancel();
        resolve(bundle);
      };
    });
    const wrappedKey = await wrapByCode(ephemeral.public, code);
    const attributes = { from: SERVER_ADDRESS, type: 'link_code_companion_reg' };
    request.registration.connection.send(
      node('notification', { ...attributes, id: this.#network.newId(), t: stanzaTime(clock) }, [
        node('link_code_companion_reg', { stage: 'primary_hello' }, [
          node('link_code_pairing_wrapped_primary_ephemeral_pub', {}, wrappedKey),
          node('primary_identity_pub', {}, handsets.handsetOf(request.phone).identityKey),
          node('link_code_pairing_ref', {}, request.reference),
        ]),
      ]),
    );
    const bundle = await answer;
    if (bundle === undefined)
      throw new ControlFailure(504, 'CLIENT_SILENT', 'The client did not answer the pairing.');
    return bundle;
  }

  /** Returns the secret that phone and client share. It is the same only if both used the same code. */
  async #agree(parts: {
    request: CodeRequest;
    ephemeral: KeyPair;
    bundle: Buffer;
    code: string;
  }): Promise<Buffer> {
    const { request, ephemeral, bundle, code } = parts;
    const companionKey = await unwrapByCode(request.wrappedKey, code);
    const ephemeralSecret = Curve.sharedKey(ephemeral.private, companionKey);
    const openedBundle = openKeyBundle(bundle, ephemeralSecret);
    if (openedBundle === undefined) {
      throw new ControlFailure(422, 'CODE_WRONG', 'This is not the code that the client shows.', [
        { field: 'code', message: 'must be the code that the client shows' },
      ]);
    }
    const handset = this.#network.handsets.handsetOf(request.phone);
    const isOurs =
      openedBundle.companionIdentity.equals(request.registration.identityKey) &&
      openedBundle.primaryIdentity.equals(handset.identityKey);
    if (!isOurs) throw new ControlFailure(502, 'CLIENT_KEYS_INVALID', 'The client named other keys.');
    const identitySecret = handset.agree(openedBundle.companionIdentity);
    return linkingSecret({ ephemeralSecret, identitySecret, random: openedBundle.random });
  }
}

const toBase64 = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('base64');
