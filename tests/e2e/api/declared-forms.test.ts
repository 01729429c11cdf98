/** A declaration and an opt-out are a person's, in whichever form of their number each is given and asked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStack } from '../stack/shared-stack.ts';
import { sendText } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110078';

const stack = sharedStack({ phone: SHOP_PHONE });

const contacts = () => `/shops/${stack.shopId}/contacts/consented`;
const declare = (...phones: string[]) =>
  stack.api.post(contacts(), { contacts: phones.map((phone) => ({ phone })) });
const revoke = (phone: string) => stack.api.delete(contacts(), { phone });

/** Returns the policy's forecast for each form. */
async function forecasts(field: 'recipientClass' | 'code', ...phones: string[]): Promise<unknown[]> {
  const asked = phones.map((to) =>
    stack.api.get(`/shops/${stack.shopId}/policy?to=${encodeURIComponent(to)}`),
  );
  return (await Promise.all(asked)).map(({ data }) => data[field]);
}

async function listed(...phones: string[]): Promise<unknown[]> {
  const { data } = await stack.api.get(`${contacts()}?activeOnly=false&limit=100`);
  const items = data.items as { readonly phone: string; readonly active: boolean }[];
  return items.filter(({ phone }) => phones.includes(phone)).map(({ phone, active }) => [phone, active]);
}

for (const [country, canonical, other] of [
  ['Brazil', '+553196348800', '+5531996348800'],
  ['Mexico', '+525512345678', '+5215512345678'],
  ['Argentina', '+5491123456789', '+541123456789'],
] as const) {
  const forms = [canonical, other] as const;

  test(`${country}: declared in one form and revoked in the other, by neither is somebody declared`, async () => {
    await stack.network.setNumber(canonical, true, [other]);
    for (const [given, named] of [forms, [other, canonical]] as const) {
      await declare(given);
      assert.deepEqual(await forecasts('recipientClass', ...forms), ['declared', 'declared']);
      const revokedAnswer = await revoke(named);
      assert.deepEqual(await forecasts('recipientClass', ...forms), ['cold', 'cold']);
      assert.deepEqual(
        [revokedAnswer.status, revokedAnswer.data.phone, revokedAnswer.data.active],
        [200, given, false],
      );
      assert.deepEqual(await listed(...forms), [[given, false]]);
    }
  });

  test(`${country}: both forms declared in a batch are one contact, and one revocation ends it`, async () => {
    const bothAnswer = await declare(other, canonical);
    assert.equal(bothAnswer.data.accepted, 1);
    assert.deepEqual(await listed(...forms), [[canonical, true]]);
    const revokedAnswer = await revoke(other);
    assert.deepEqual(await forecasts('recipientClass', ...forms), ['cold', 'cold']);
    assert.deepEqual((await revoke(canonical)).data, revokedAnswer.data, 'revoking twice changes nothing');
    const sentAnswer = await sendText(stack, stack.shopId, { to: canonical, text: `Hello ${country}` });
    assert.equal((sentAnswer.data.policy as { recipientClass: string }).recipientClass, 'cold');
  });

  test(`${country}: a declaration in one form does not lift a STOP from the other, and forecast and send agree`, async () => {
    await declare(other);
    await stack.network.write(canonical, { to: SHOP_PHONE, text: 'STOP' });
    assert.deepEqual(await forecasts('code', ...forms), ['RECIPIENT_OPTED_OUT', 'RECIPIENT_OPTED_OUT']);
    for (const to of forms) {
      const refusedAnswer = await sendText(stack, stack.shopId, { to, text: 'Hi' });
      assert.equal(refusedAnswer.error?.code, 'RECIPIENT_OPTED_OUT');
    }
  });
}
