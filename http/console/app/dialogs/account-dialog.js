// @ts-check
import { html } from '/console/preact.js';
import { useAction } from '../asking.js';
import { submitted, textOf } from '../form.js';
import { Dialog, Failure } from '../parts.js';
import { call } from '../session.js';

/** @import { InspectedTenant } from '../answers.js' */

/** The caps that operators change, with their labels. */
const TUNED = /** @type {const} */ ({
  coldPerDay: 'Cold recipients a day',
  declaredPerDay: 'Declared recipients a day',
  groupsPerDay: 'Group shares a day',
  groupPerRecipient24h: 'Messages to one group a day',
  statusesPerDay: 'Statuses a day',
});
const INBOUND = ['none', 'events', 'texts'];

/** @param {{ tenant: InspectedTenant, onClose: () => void }} props */
export function ChangeAccount({ tenant, onClose }) {
  const action = useAction();
  const submit = async (/** @type {SubmitEvent} */ event) => {
    const given = submitted(event);
    const { name, owner, settings, poolFallback, platform, inbound } = tenant;
    const changes = changedOf(
      {
        name: textOf(given, 'name'),
        poolFallback: given.has('poolFallback'),
        platform: given.has('platform'),
        inbound: textOf(given, 'inbound'),
      },
      { name: name.trim(), poolFallback, platform, inbound },
    );
    const ownerName = textOf(given, 'owner');
    const ownerChanges = changedOf(
      { name: ownerName, notificationNumber: textOf(given, 'number') || null },
      { name: owner?.name.trim() ?? '', notificationNumber: owner?.notificationNumber ?? null },
    );
    const caps = Object.keys(TUNED).map((each) => {
      const cap = textOf(given, each);
      return [each, cap === '' ? null : Number(cap)];
    });
    const body = {
      ...changes,
      ...(Object.keys(ownerChanges).length > 0 && {
        owner: owner !== null && ownerName === '' ? null : ownerChanges,
      }),
      settings: changedOf(Object.fromEntries(caps), settings),
    };
    const isChanged = await action.run(() => call(`/tenants/${tenant.id}`, { method: 'PATCH', body }));
    if (isChanged) onClose();
  };
  return html`
    <${Dialog} title="Change account" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <label>Name <input name="name" required maxlength="200" defaultValue=${tenant.name} /></label>
        <label>Owner <input name="owner" maxlength="200" defaultValue=${tenant.owner?.name ?? ''} placeholder="empty: none" /></label>
        <label>Notified at <input name="number" defaultValue=${tenant.owner?.notificationNumber ?? ''} placeholder="+41791234567" /></label>
        ${Object.entries(TUNED).map(
          ([name, label]) => html`
            <label>${label}
              <input name=${name} type="number" min="0" placeholder="empty: the default"
                defaultValue=${tenant.settings[/** @type {keyof typeof TUNED} */ (name)] ?? ''} /></label>
          `,
        )}
        <label class="check"><input type="checkbox" name="poolFallback" defaultChecked=${tenant.poolFallback} /> Sends through the pool while its session is away</label>
        <label class="check"><input type="checkbox" name="platform" defaultChecked=${tenant.platform} /> Its shops are the pool</label>
        <label>Gets inbound messages <select name="inbound">${INBOUND.map((each) => html`<option value=${each} selected=${each === tenant.inbound}>${each}</option>`)}</select></label>
        <${Failure} failure=${action.failure} />
        <footer><button class="primary" disabled=${action.isBusy}>Change account</button></footer>
      </form>
    <//>
  `;
}

/**
 * Returns the inputs that differ from the shown values. Another operator may have changed the others meanwhile.
 * @param {Record<string, unknown>} inputs
 * @param {Record<string, unknown>} shown
 */
function changedOf(inputs, shown) {
  return Object.fromEntries(
    Object.entries(inputs).filter(([name, value]) => value !== (shown[name] ?? null)),
  );
}
